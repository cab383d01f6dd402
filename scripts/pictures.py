"""The pictures of the documentation: boxes on a grid with arrows between them, as self-contained SVG.

tests/unit/scripts/test_pictures.py keeps docs/pictures/ in step with this module.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

Point = tuple[float, float]

_CHAR_W = 6.6
_LINE_H = 16
_MARGIN = 24
_LOOP_H = 26
_ARROW = (
    '<marker id="arrow" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" '
    'orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="#4a5560"/></marker>'
)
_FILLS = {"plain": "#f3f5f7", "item": "#dcebfa", "ours": "#e6f4ea", "store": "#fdf1dc", "optional": "#ffffff"}


@dataclass(frozen=True, slots=True)
class Box:
    """A box: its top left corner and size in pixels, a title, smaller lines below it, and one of the fills."""

    x: float
    y: float
    width: float
    height: float
    title: str
    lines: Sequence[str] = ()
    fill: str = "plain"

    @property
    def middle(self) -> Point:
        """The point between its corners."""
        return self.x + self.width / 2, self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow from one box to another, or to itself; `dashed` if optional."""

    source: str
    target: str
    labels: Sequence[str] = ()
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes by name, and arrows between them; `title` and `description` are for those who cannot see it."""

    title: str
    description: str
    boxes: Mapping[str, Box]
    arrows: Sequence[Arrow]


def svg(picture: Picture) -> str:
    """Return the picture as a document on a white background, readable in a dark theme too."""
    width = max(box.x + box.width for box in picture.boxes.values()) + _MARGIN
    height = max(box.y + box.height for box in picture.boxes.values()) + _MARGIN
    lines = [line for arrow in picture.arrows for line in _arrow(arrow, picture.boxes)]
    labels = [line for arrow in picture.arrows for line in _labels(arrow, picture.boxes)]
    parts = [*lines, *(line for box in picture.boxes.values() for line in _box(box)), *labels]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" font-family="system-ui, sans-serif" font-size="12">\n'
        f"<title>{escape(picture.title)}</title>\n<desc>{escape(picture.description)}</desc>\n<defs>{_ARROW}</defs>\n"
        f'<rect width="{width:g}" height="{height:g}" rx="8" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _box(box: Box) -> Iterator[str]:
    dashes = ' stroke-dasharray="5 4"' if box.fill == "optional" else ""
    yield (
        f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}" rx="6" '
        f'fill="{_FILLS[box.fill]}" stroke="#4a5560"{dashes}/>'
    )
    x, y = box.middle
    top = y - len(box.lines) * _LINE_H / 2 + 4
    yield f'<text x="{x:g}" y="{top:g}" text-anchor="middle" font-weight="600">{escape(box.title)}</text>'
    for number, line in enumerate(box.lines, start=1):
        yield (
            f'<text x="{x:g}" y="{top + number * _LINE_H:g}" text-anchor="middle" fill="#4a5560">{escape(line)}</text>'
        )


def _arrow(arrow: Arrow, boxes: Mapping[str, Box]) -> Iterator[str]:
    dashes = ' stroke-dasharray="5 4"' if arrow.dashed else ""
    style = f'stroke="#4a5560" fill="none"{dashes} marker-end="url(#arrow)"'
    if arrow.source == arrow.target:
        box = boxes[arrow.source]
        x, y = box.middle[0], box.y
        top = y - _LOOP_H
        yield f'<path d="M{x - 30:g} {y:g}C{x - 30:g} {top:g} {x + 30:g} {top:g} {x + 30:g} {y:g}" {style}/>'
    else:
        (x1, y1), (x2, y2) = _ends(boxes[arrow.source], boxes[arrow.target])
        yield f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" {style}/>'


def _labels(arrow: Arrow, boxes: Mapping[str, Box]) -> Iterator[str]:
    """Yield the labels on a white background in the middle of the arrow, or above its loop."""
    if not arrow.labels:
        return
    if arrow.source == arrow.target:
        x, y = boxes[arrow.source].middle[0], boxes[arrow.source].y - _LOOP_H - len(arrow.labels) * _LINE_H / 2 + 2
    else:
        (x1, y1), (x2, y2) = _ends(boxes[arrow.source], boxes[arrow.target])
        x, y = (x1 + x2) / 2, (y1 + y2) / 2
    width = max(map(len, arrow.labels)) * _CHAR_W + 6
    height = len(arrow.labels) * _LINE_H
    yield (
        f'<rect x="{x - width / 2:g}" y="{y - height / 2:g}" width="{width:g}" height="{height:g}" '
        'fill="#ffffff" fill-opacity="0.9"/>'
    )
    for number, label in enumerate(arrow.labels):
        line = y - height / 2 + number * _LINE_H + 12
        yield f'<text x="{x:g}" y="{line:g}" text-anchor="middle" font-size="11" fill="#1c2733">{escape(label)}</text>'


def _ends(source: Box, target: Box) -> tuple[Point, Point]:
    """Return where the arrow leaves one box and enters the other: vertical or horizontal for aligned boxes, else
    between their centres.
    """
    if across := _shared(source.x, source.width, target.x, target.width):
        down = source.y < target.y
        return (across, source.y + source.height * down), (across, target.y + target.height * (not down))
    if along := _shared(source.y, source.height, target.y, target.height):
        right = source.x < target.x
        return (source.x + source.width * right, along), (target.x + target.width * (not right), along)
    return _edge(source, target.middle), _edge(target, source.middle)


def _shared(start: float, length: float, other_start: float, other_length: float) -> float:
    """Return the middle of the overlap of two spans, 0 without one."""
    low, high = max(start, other_start), min(start + length, other_start + other_length)
    return (low + high) / 2 if low < high else 0.0


def _edge(box: Box, towards: Point) -> Point:
    (x, y), (other_x, other_y) = box.middle, towards
    dx, dy = other_x - x, other_y - y
    shares = [side / abs(way) for side, way in ((box.width / 2, dx), (box.height / 2, dy)) if way]
    share = min(shares)
    return round(x + dx * share, 1), round(y + dy * share, 1)
