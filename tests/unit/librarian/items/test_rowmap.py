from pathlib import Path

import pytest

from librarian.base.errors import InvalidInput
from librarian.items.rowmap import RowMap, built_in_maps

SOURCE = {"who": "Mia", "n": 3, "body": {"text": "hello"}, "labels": ["a", "b"], "empty": None}


def test_every_kind_of_source():
    mapping = RowMap.parse(
        "kind==message,author_name=who,text=body.text,session_id=s{n},position=#,caption=empty,message_id={who}-{n}"
    )
    assert mapping.apply(SOURCE, 12) == {
        "kind": "message",
        "author_name": "Mia",
        "text": "hello",
        "session_id": "s3",
        "position": 12,
        "message_id": "Mia-3",
    }


def test_lists_are_built_and_spread(tmp_path: Path):
    file = tmp_path / "map.toml"
    file.write_text('kind = "=memory"\ntext = "who"\ntags = "[=imported, labels, empty]"\n', encoding="utf-8")
    assert RowMap.parse(str(file)).apply(SOURCE, 1)["tags"] == ["imported", "a", "b"]


def test_the_built_in_maps_parse():
    assert built_in_maps() == ["locomo-facts", "locomo-messages", "paragraphs"]
    assert all(RowMap.parse(name).sources["kind"] for name in built_in_maps())


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("nonsense", "neither a file"),
        ("missing.toml", "no map file"),
        ("kind==message,colour=who", "rows have no field 'colour'"),
        ("text=who", "what kind"),
        ("kind==message,text=", "source of 'text'"),
    ],
)
def test_a_bad_map_says_what_is_wrong(text: str, complaint: str):
    with pytest.raises(InvalidInput, match=complaint):
        RowMap.parse(text)
