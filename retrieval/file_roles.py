"""The role of a file in its tree, by its path: source, test, change log and others. Pure."""

import re
from collections.abc import Collection
from enum import StrEnum
from functools import lru_cache


class Role(StrEnum):
    """The role of a file; a search that asks for none prefers them in this order."""

    SOURCE = "source"
    DATA = "data"
    EXAMPLE = "example"
    TEST = "test"
    DOCS = "documentation"
    CHANGELOG = "change log"
    GENERATED = "generated"


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ORDER = {role: number for number, role in enumerate(Role)}
_GENERATED = re.compile(
    r"(?:\.min\.\w+|\.map|\.lock|\.snap|\.po|\.pot|_pb2(?:_grpc)?\.pyi?|\.pb\.(?:go|cc|h)|\.g\.(?:cs|dart)"
    r"|\.designer\.cs|[-_.]generated\.\w+|^_?generated[-_.].*|lock\.(?:json|ya?ml)|^pkg-info|^go\.sum|\.svg)$"
)
_GENERATED_FOLDERS = _set(
    "generated __generated__ dist build out vendor third_party vendored _vendor node_modules locale locales"
)
_CHANGELOG_STEM = re.compile(
    r"(?:changelog|change[-_ ]?log|changes|history|news|release[-_ ]?notes?|what'?s[-_ ]?new)\b.*"
)
_CHANGELOG_FOLDERS = _set("releases changelog changelogs changelog.d newsfragments whatsnew history")
_TEST_FOLDERS = _set("tests __tests__ testdata spec specs fixtures e2e __mocks__ _tests testsuite")
_TEST_NAME = re.compile(
    r"(?:tests?[-_].*|.*[-_.](?:tests?|spec)\.\w+|(?:tests?|conftest)\.\w+|.*[a-z0-9](?:Test|Tests|Spec)\.\w+)"
)
_DOCS_FOLDERS = _set("docs doc documentation guide guides")
_DATA_ENDINGS = (
    *(".png", ".jpg", ".jpeg", ".gif", ".ico", ".pdf", ".css", ".scss", ".html", ".htm", ".xml", ".json", ".csv"),
    *(".yaml", ".yml", ".txt", ".in", ".cfg", ".ini", ".tmpl", ".tpl", ".woff", ".woff2", ".ttf"),
)
_DOCS_ENDINGS = (".md", ".mdx", ".rst", ".txt", ".adoc", ".html", ".ipynb")
_EXAMPLE_FOLDERS = _set("example examples sample samples demo demos tutorial tutorials benchmarks bench scripts")

# Requests for files of a role. "Tests for X" is one; "the test client" and "a clock for tests" are not, nor is a
# question about documents ("how are links to other documentation resolved").
_A_TEST = r"(?:unit |integration |e2e )?(?:tests|specs|test (?:file|case|suite|module)s?)"
_A_DOCUMENT = r"(?:docs|documentation|readme|user guide|manual|tutorial|how-?to)"
_AN_EXAMPLE = r"(?:examples?|samples?|demos?|benchmarks?)"
_ASKED = {
    Role.TEST: re.compile(
        rf"^(?:\w+ )?(?:the |all )?{_A_TEST}\b|\b(?:which|what|where (?:are|is)(?: the)?) {_A_TEST}\b"
        r"|\b(?:which|what) test (?:for|of|is|does|covers|checks|exercises|verifies|asserts|proves|shows)\b"
        rf"|^(?!how\b).*\b(?:{_A_TEST} (?:for|of|that|which|cover)|tests? (?:for|of))\b|^\S+(?: \S+)? tests?$"
        r"|\b(?:is|are) (?:\S+ ){1,5}tested\b|テスト(?!用)"
    ),
    Role.DATA: re.compile(
        r"\b(?:templates?|html|css|stylesheets?|images?|icons?|fonts?|json|ya?ml|csv|xml|requirements|config)\b|設定"
    ),
    Role.DOCS: re.compile(
        rf"^(?:the )?{_A_DOCUMENT}\b|\b{_A_DOCUMENT} (?:of|for|on|about|to)\b|^(?!how\b).*\b{_A_DOCUMENT}$|\breadme\b"
        rf"|\b(?:which|what|where (?:is|are)(?: the)?) (?:\w+ )?{_A_DOCUMENT}\b|ドキュメント|文書"
    ),
    Role.CHANGELOG: re.compile(
        r"\bchange ?logs?\b|\brelease notes?\b|\bwhat'?s new\b|\bwhat changed\b"
        r"|^(?:the )?(?:changes|history|news)$|変更履歴"
    ),
    Role.GENERATED: re.compile(
        r"\bgenerated\b|\bvendored\b|\bminified\b|\block ?files?\b|\btranslations?\b|生成された"
    ),
    Role.EXAMPLE: re.compile(
        rf"^(?:\w+ )?(?:an? |the )?{_AN_EXAMPLE}\b|\b{_AN_EXAMPLE} (?:of|for|that|with|how)\b"
        rf"|^(?!how\b).*\b{_AN_EXAMPLE}$|サンプル"
    ),
}
INSTEAD = frozenset({Role.TEST, Role.DOCS, Role.CHANGELOG})
"""Roles that replace sources when requested; requested files of the other roles rank equal with sources."""

ASKING_WORDS = frozenset({"test", "tests", "spec", "specs", "docs", "documentation"})
"""Words of a name query that may ask for a role, and then need not be in the path."""


@lru_cache(maxsize=65_536)
def role_of(path: str) -> Role:
    """Return the role indicated by the folders and name of a file; source by default."""
    *folders, original = path.split("/")
    name = original.casefold()
    around = [folder.casefold() for folder in folders]
    if (
        _GENERATED.search(name)
        or not _GENERATED_FOLDERS.isdisjoint(around)
        or any(".egg-info" in one for one in around)
    ):
        return Role.GENERATED
    is_prose = name.endswith(_DOCS_ENDINGS) or "." not in name
    if is_prose and (_CHANGELOG_STEM.fullmatch(name) or not _CHANGELOG_FOLDERS.isdisjoint(around)):
        return Role.CHANGELOG
    if _is_test(around, original):
        return Role.TEST
    if not _EXAMPLE_FOLDERS.isdisjoint(around):
        return Role.EXAMPLE
    if not _DOCS_FOLDERS.isdisjoint(around) or name.endswith((".md", ".mdx", ".rst", ".adoc")):
        return Role.DOCS
    return Role.DATA if name.endswith(_DATA_ENDINGS) else Role.SOURCE


def asked_roles(text: str) -> frozenset[Role]:
    """Return the roles that a query asks for."""
    return frozenset(role for role, asked in _ASKED.items() if asked.search(text.casefold().rstrip("?？.! ")))


def preference(path: str, asked: Collection[Role]) -> int:
    """Return the rank of a path's role, 0 for the best: requested roles, then sources before the others."""
    role = role_of(path)
    if role in asked or (role is Role.SOURCE and INSTEAD.isdisjoint(asked)):
        return 0
    return _ORDER[role] + bool(asked)


def _is_test(folders: list[str], name: str) -> bool:
    """Whether it is a test.

    A folder called `test` holds tests at the top or in a source root; deeper it may hold test utilities.
    """
    if _TEST_NAME.fullmatch(name) or any(one in _TEST_FOLDERS or one.endswith(("_tests", "-tests")) for one in folders):
        return True
    return any(
        one in ("test", "testing", "t") and (depth == 0 or folders[depth - 1] in ("src", "packages", "lib"))
        for depth, one in enumerate(folders)
    )
