"""Draws the answer to a causal question as SVG: one column for each distance in edges from the item in question."""

import re
from collections import defaultdict
from collections.abc import Callable
from html import escape
from unicodedata import east_asian_width

from librarian.causal.contracts import CausalOutput, ItemBrief, ReachedItem
from librarian.items.contracts import EdgeOut

Position = tuple[int, int]
Link = Callable[[str], str]

_BOX_W, _BOX_H = 220, 46
# The gap between columns fits the longest label, RELATES_TO with a number.
_COLUMN_W, _ROW_H = 360, 70
_MARGIN = 20
# Width of a box's text, in narrow letters.
_CAPTION_W = 27
# Control characters, surrogates and non-characters, which XML cannot represent, and bidirectional controls, which
# would make the surrounding text read differently.
_INVISIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]")
_COLOURS = {"CAUSES": "#b3261e", "BLOCKS": "#8a5a00", "ENABLES": "#1b6e3c", "RELATES_TO": "#5b6770"}


def svg(found: CausalOutput, link: Link | None = None) -> str:
    """Return the drawing; a dashed line is a proposal, RELATES_TO has no arrow. `link` maps a uid to the address that
    its box links to.
    """
    positions = _positions(found)
    width = max(x for x, _ in positions.values()) + _BOX_W + _MARGIN
    height = max(y for _, y in positions.values()) + _BOX_H + _MARGIN
    lines = "".join(_line(edge, positions) for edge in found.edges)
    boxes = "".join(_box(item, positions[item.uid], link) for item in (found.item, *found.items))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="system-ui, sans-serif" font-size="12">\n<defs>\n{_arrows()}</defs>\n{lines}{boxes}</svg>\n'
    )


def visible(text: str) -> str:
    """Return the text without characters that cannot be drawn or that change how others are drawn."""
    return _INVISIBLE.sub("\ufffd", text)


def _positions(found: CausalOutput) -> dict[str, Position]:
    """Return the top left corners: within a column in the order of the answer, each column centred."""
    columns: defaultdict[int, list[str]] = defaultdict(list)
    for item in (found.item, *found.items):
        columns[item.depth if isinstance(item, ReachedItem) else 0].append(item.uid)
    tallest = max(map(len, columns.values()))
    return {
        uid: (_MARGIN + depth * _COLUMN_W, _MARGIN + row * _ROW_H + (tallest - len(column)) * _ROW_H // 2)
        for depth, column in columns.items()
        for row, uid in enumerate(column)
    }


def _arrows() -> str:
    return "".join(
        f'<marker id="{kind}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="12" markerHeight="12" '
        f'markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="{colour}"/></marker>\n'
        for kind, colour in _COLOURS.items()
    )


def _line(edge: EdgeOut, positions: dict[str, Position]) -> str:
    (x1, y1), (x2, y2) = _ends(positions[edge.source], positions[edge.target])
    colour = _COLOURS[edge.type]
    dashes = "" if edge.state == "accepted" else ' stroke-dasharray="5 4"'
    arrow = "" if edge.type == "RELATES_TO" else f' marker-end="url(#{edge.type})"'
    label = f"{edge.type} {edge.confidence:.2f}"
    names = {"edge": edge.edge_id, "source": edge.source, "target": edge.target}
    data = "".join(f' data-{name}="{escape(visible(value))}"' for name, value in names.items())
    return (
        f'<g class="edge {edge.type}"{data}>'
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" stroke-width="1.5"{dashes}{arrow}/>\n'
        f'<text x="{(x1 + x2) // 2}" y="{(y1 + y2) // 2 - 4}" fill="{colour}" text-anchor="middle">{label}</text>'
        "</g>\n"
    )


def _ends(source: Position, target: Position) -> tuple[Position, Position]:
    """Return where a line leaves one box and enters the other: at facing sides, or above and below in a column."""
    if source[0] == target[0]:
        down = source[1] < target[1]
        middle = source[0] + _BOX_W // 2
        return (middle, source[1] + (_BOX_H if down else 0)), (middle, target[1] + (0 if down else _BOX_H))
    right = source[0] < target[0]
    half = _BOX_H // 2
    return (
        (source[0] + (_BOX_W if right else 0), source[1] + half),
        (target[0] + (0 if right else _BOX_W), target[1] + half),
    )


def _box(item: ItemBrief, corner: Position, link: Link | None) -> str:
    x, y = corner
    caption = _caption(visible(item.name))
    day = f" · {item.occurred_at:%Y-%m-%d}" if item.occurred_at else ""
    box = (
        f'<g class="item" data-uid="{escape(visible(item.uid))}"><title>{escape(visible(item.text))}</title>'
        f'<rect x="{x}" y="{y}" width="{_BOX_W}" height="{_BOX_H}" rx="6" fill="#f5f7f9" stroke="#5b6770"/>\n'
        f'<text x="{x + 10}" y="{y + 19}" font-weight="600">{escape(caption)}</text>\n'
        f'<text x="{x + 10}" y="{y + 36}" fill="#5b6770">{escape(item.type or item.kind)}{day}</text></g>\n'
    )
    return box if link is None else f'<a href="{escape(link(item.uid))}">{box}</a>\n'


def _caption(name: str) -> str:
    """Cut the name to the width of a box; Japanese letters are twice as wide as Latin ones."""
    width = 0
    for index, letter in enumerate(name):
        width += 2 if east_asian_width(letter) in "WF" else 1
        if width > _CAPTION_W:
            return name[:index] + "…"
    return name
