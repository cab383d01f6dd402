"""docs/search-agent.md tells the truth: every setting stands there. Its picture is tested with the other pictures."""

from pathlib import Path

from librarian.base.settings.settings import Settings

PAGE = Path(__file__).resolve().parents[4] / "docs" / "search-agent.md"


def test_every_setting_of_the_agent_stands_on_the_page():
    """With its default."""
    page = PAGE.read_text(encoding="utf-8")
    ours = [
        entry for entry in Settings.from_env({}).entries if entry.name.startswith(("PROFESSOR_", "LIBRARIAN_AGENT_"))
    ]
    assert len(ours) >= 8
    for entry in ours:
        shown = f"`{entry.value}`" if entry.value.isalpha() else entry.value or "none"
        assert f"| `{entry.name}` | {shown} |" in page, entry.name
