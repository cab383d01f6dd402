"""Draws the answer to a causal question for other programs: Mermaid, GraphML, SVG, and an HTML page.

Pure functions from the answer to text. Each format escapes the texts of items in its own way.
"""

import re
from collections.abc import Callable, Mapping
from html import escape
from typing import Literal
from xml.sax.saxutils import quoteattr

from librarian.causal.contracts import CausalOutput, ItemBrief
from librarian.causal.svg import svg, visible
from librarian.items.contracts import EdgeOut

Form = Literal["mermaid", "graphml", "svg", "html"]

_UNSAFE_IN_MERMAID = re.compile(r"[^\w .,:;!?%()/+*=@-]")
# Keyed by (undirected, accepted).
_MERMAID_ARROWS = {(False, True): "-->", (False, False): "-.->", (True, True): "---", (True, False): "-.-"}
_NODE_KEYS = ("kind", "name", "type", "occurred_at", "depth", "confidence", "text")
_EDGE_KEYS = ("type", "state", "method", "confidence", "source_quote", "target_quote", "reason")
_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem;color:#1c2733}table{border-collapse:collapse}"
    "td,th{border:1px solid #ccd4dc;padding:.3rem .6rem;text-align:left;vertical-align:top}svg{max-width:100%}"
)


def drawn(found: CausalOutput, form: Form) -> str:
    """Return `found` in one of the formats."""
    return _FORMS[form](found)


def mermaid(found: CausalOutput) -> str:
    """Return a flowchart; a dotted line is a proposal."""
    names = {item.uid: f"n{number}" for number, item in enumerate(_items(found))}
    lines = ["flowchart LR"]
    lines += [f'  {names[item.uid]}["{_mermaid_text(item.name)}"]' for item in _items(found)]
    for edge in found.edges:
        arrow = _MERMAID_ARROWS[edge.type == "RELATES_TO", edge.state == "accepted"]
        label = f'|"{edge.type} {edge.confidence:.2f}"|'
        lines.append(f"  {names[edge.source]} {arrow}{label} {names[edge.target]}")
    return "\n".join(lines) + "\n"


def graphml(found: CausalOutput) -> str:
    """Return GraphML with all fields of items and edges, quotes included."""
    nodes = "".join(
        f"    <node id={_attribute(item.uid)}>{_data(item, _NODE_KEYS, 'n_')}</node>\n" for item in _items(found)
    )
    edges = "".join(_graphml_edge(edge) for edge in found.edges)
    keys = "".join(
        f'  <key id="{prefix}{name}" for="{of}" attr.name="{name}" attr.type="{_type_of(name)}"/>\n'
        for of, prefix, names in (("node", "n_", _NODE_KEYS), ("edge", "e_", _EDGE_KEYS))
        for name in names
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
        f'{keys}  <graph edgedefault="directed">\n{nodes}{edges}  </graph>\n</graphml>\n'
    )


def page(found: CausalOutput) -> str:
    """Return a self-contained page with the drawing and a table of its edges with their quotes."""
    names = {item.uid: item.name for item in _items(found)}
    rows = "".join(_row(edge, names) for edge in found.edges)
    title = escape(visible(found.item.name))
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>\n<style>{_STYLE}</style>\n'
        f"<h1>{title}</h1>\n{svg(found)}"
        "<table>\n<tr><th>from<th>what<th>to<th>sure<th>words of the source<th>words of the target</tr>\n"
        f"{rows}</table>\n{'<p>A limit cut something off.</p>' if found.more else ''}</html>\n"
    )


def _items(found: CausalOutput) -> list[ItemBrief]:
    return [found.item, *found.items]


def _mermaid_text(text: str) -> str:
    return _UNSAFE_IN_MERMAID.sub(lambda char: f"#{ord(char[0])};", " ".join(visible(text).split()))


def _row(edge: EdgeOut, names: Mapping[str, str]) -> str:
    what = edge.type if edge.state == "accepted" else f"{edge.type} ({edge.state})"
    confidence = f"{edge.confidence:.2f}"
    cells = (names[edge.source], what, names[edge.target], confidence, edge.source_quote, edge.target_quote)
    return "<tr>" + "".join(f"<td>{escape(visible(cell or ''))}" for cell in cells) + "</tr>\n"


def _data(of: object, names: tuple[str, ...], prefix: str) -> str:
    values = ((name, getattr(of, name, None)) for name in names)
    return "".join(
        f'<data key="{prefix}{name}">{escape(visible(str(value)), quote=False)}</data>'
        for name, value in values
        if value is not None
    )


def _graphml_edge(edge: EdgeOut) -> str:
    directed = "false" if edge.type == "RELATES_TO" else "true"
    ends = f"source={_attribute(edge.source)} target={_attribute(edge.target)}"
    data = _data(edge, _EDGE_KEYS, "e_")
    return f'    <edge id={_attribute(edge.edge_id)} {ends} directed="{directed}">{data}</edge>\n'


def _attribute(text: str) -> str:
    return quoteattr(visible(text))


def _type_of(name: str) -> str:
    return {"confidence": "double", "depth": "int"}.get(name, "string")


_FORMS: Mapping[Form, Callable[[CausalOutput], str]] = {
    "mermaid": mermaid,
    "graphml": graphml,
    "svg": svg,
    "html": page,
}
