"""Whether the tools' descriptions distinguish them: the nearest tool description for typical user requests.

Nearness is by the default encoder, over name and description: not a language model, which also sees the parameters and
the context, but reproducible. A low rank means a description that uses other words than users do, or resembles another
tool.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.common import main, report
from librarian.base.settings.settings import Settings
from librarian.mcp.tools import TOOLS, TOOLSETS
from librarian.runtime.assembly import open_encoder

_REQUESTS = Path(__file__).with_name("tool_requests.txt")


def requests() -> Iterator[tuple[str, str]]:
    """Yield requests with the tool that serves them."""
    tool = ""
    for line in _REQUESTS.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            yield line.strip(), tool
        elif not line.startswith("#"):
            tool = line


async def benchmark() -> None:
    """Rank the tools for each request, among all and within the tool's own set."""
    asked = list(requests())
    names = [tool.name for tool in TOOLS]
    described = [f"{tool.name.replace('_', ' ')}: {' '.join(tool.description.split())}" for tool in TOOLS]
    async with open_encoder(Settings.from_env({})) as encoder:
        assert encoder is not None
        tools = np.array(await encoder.encode_passages(described))
        likeness = np.array(await encoder.encode_query([request for request, _ in asked])) @ tools.T
    own_set = {tool: members for members in TOOLSETS.values() for tool in members}
    first, among_three, in_set, taken_for = Counter[str](), 0, 0, Counter[str]()
    for row, (_, wanted) in zip(likeness, asked, strict=True):
        ranked = [names[at] for at in np.argsort(-row)]
        first[wanted] += ranked[0] == wanted
        among_three += wanted in ranked[:3]
        in_set += next(tool for tool in ranked if tool in own_set[wanted]) == wanted
        if ranked[0] != wanted:
            taken_for[f"{wanted} for {ranked[0]}"] += 1
    rows = [{"tool": name, "first": first[name], "of": sum(tool == name for _, tool in asked)} for name in names]
    shares = {"first": sum(first.values()), "among_three": among_three, "first_in_its_toolset": in_set}
    report(
        "tool_choice",
        rows,
        requests=len(asked),
        taken_for=dict(taken_for.most_common(12)),
        **{name: round(count / len(asked), 3) for name, count in shares.items()},
    )


if __name__ == "__main__":
    main(benchmark)
