"""The pictures of docs/ are what the program declares.

RENEW=1 .venv/bin/pytest tests/unit/scripts/test_pictures.py draws them anew.
"""

import os
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from graph.models import NODE_MODELS, edge_types
from scripts.architecture_picture import architecture, search_agent, search_path, sweep_path
from scripts.graph_picture import data_model
from scripts.pictures import Arrow, Box, Picture, svg

PROJECT = Path(__file__).resolve().parents[3]
FOLDER = PROJECT / "docs" / "pictures"
DRAWN = {
    "architecture.svg": architecture,
    "data-model.svg": data_model,
    "search-agent.svg": search_agent,
    "search-path.svg": search_path,
    "sweep-path.svg": sweep_path,
}
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_what_is_drawn_now(name):
    """A change of what it shows changes the file."""
    file, now = FOLDER / name, svg(DRAWN[name]())
    if os.environ.get("RENEW"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(now, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == now, f"draw docs/pictures/{name} anew; this module's docstring says how"


@pytest.mark.parametrize("name", DRAWN)
def test_no_two_boxes_of_a_picture_overlap(name):
    """Nor does a box begin outside of the picture."""
    boxes = list(DRAWN[name]().boxes.values())
    assert all(box.x >= 0 and box.y >= 0 for box in boxes)
    assert [
        (entry.title, other.title) for i, entry in enumerate(boxes) for other in boxes[i + 1 :] if meet(entry, other)
    ] == []


@pytest.mark.parametrize("name", DRAWN)
def test_the_words_of_a_box_fit_into_it(name):
    """By the width of letters in the fonts that systems have."""
    wide = [
        line
        for box in DRAWN[name]().boxes.values()
        for line, width in ((box.title, 7.4), *((line, 6.2) for line in box.lines))
        if len(line) * width > box.width
    ]
    assert wide == []


def test_the_data_model_has_every_label_and_relationship():
    """Of the declared graph; nothing is left out of the picture."""
    picture = data_model()
    assert set(picture.boxes) == set(NODE_MODELS)
    assert {label for arrow in picture.arrows for label in arrow.labels} == set(edge_types())


def test_the_files_of_a_way_are_there():
    """A search passes at most 18 files from the socket to Cypher and back."""
    ways = [search_path(), sweep_path()]
    assert [title for way in ways for title in way.boxes if not (PROJECT / title).is_file()] == []
    assert len(ways[0].boxes) <= 18


def test_text_in_a_picture_is_data():
    """Whatever it is called, the SVG can be read."""
    box = Box(0, 60, 100, 40, "<b>&", ["a < b"])
    root = ET.fromstring(svg(Picture("t & u", "d", {"a": box}, [Arrow("a", "a", ["x > y"])])))
    assert [text.text for text in root.iter(f"{SVG}text")] == ["<b>&", "a < b", "x > y"]


def meet(entry, other):
    """Whether two boxes have a point in common."""
    return (
        entry.x < other.x + other.width
        and other.x < entry.x + entry.width
        and entry.y < other.y + other.height
        and other.y < entry.y + entry.height
    )
