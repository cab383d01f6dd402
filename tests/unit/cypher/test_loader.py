import pytest

from cypher.loader import StatementError, load, parse

GOOD = """
// A remark about the file.

// fragment: guard
m.namespace = $namespace

// name: find
// purpose: one item
// params: namespace, uid (the item's)
// returns: m
// access: read
// scope: namespace
CYPHER 25
// a comment inside stays
MATCH (m:Item) WHERE {{guard}} AND m.uid = $uid
RETURN m

// name: space_size
// purpose: how many
// params: none
// returns: n
// access: read
// scope: admin
// template: space, dimension
MATCH (e:Embedding_{{space}}) WHERE size(e.vector) = {{dimension}} RETURN count(e) AS n
"""


def test_statements_have_what_their_headers_say():
    find = parse({"good": GOOD})["find"]
    assert find.params == {"namespace", "uid"}
    assert (find.access, find.scope, find.purpose) == ("read", "namespace", "one item")
    assert "m.namespace = $namespace AND m.uid = $uid" in find.text
    assert "m.namespace = $given.namespace AND m.uid = $given.uid" in find.render()


def test_template_values_fill_the_text():
    size = parse({"good": GOOD})["space_size"]
    assert size.render(space="bge_1", dimension=384) == (
        "MATCH (e:Embedding_bge_1) WHERE size(e.vector) = 384 RETURN count(e) AS n"
    )


@pytest.mark.parametrize("space", ["a b", "a)", "x`", "", "é", "a\n", "x" * 81])
def test_an_unsafe_label_never_reaches_a_statement(space: str):
    with pytest.raises(StatementError, match="space is not a safe label"):
        parse({"good": GOOD})["space_size"].render(space=space, dimension=1)


@pytest.mark.parametrize("values", [{}, {"space": "x"}, {"space": "x", "dimension": 1, "more": 2}], ids=str)
def test_missing_and_surplus_template_values_are_refused(values: dict[str, str | int]):
    with pytest.raises(StatementError, match="needs template values"):
        parse({"good": GOOD})["space_size"].render(**values)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("// access: read\n", ""), "header lacks"),
        (("// access: read", "// access: maybe"), "access is one of"),
        (("// scope: namespace", "// scope: world"), "scope one of"),
        (("{{guard}}", "{{gard}}"), "placeholders"),
        (("// name: space_size", "// name: find"), "same name"),
        (("// name: find", "// fragment: guard\nx\n\n// name: find"), "guard: two have the same name"),
        (("// template: space, dimension", "// template: space"), "placeholders"),
    ],
    ids=str,
)
def test_a_broken_file_is_refused(change: tuple[str, str], complaint: str):
    with pytest.raises(StatementError, match=complaint):
        parse({"bad": GOOD.replace(*change)})


def test_a_fragment_serves_the_statements_of_every_file():
    guard, statements = GOOD.split("// name: find")
    files = {"statements": "// name: find" + statements, "fragments": guard}
    assert parse(files)["find"] == parse({"good": GOOD})["find"]


def test_a_name_in_two_files_is_refused():
    with pytest.raises(StatementError, match=r"second: .*same name"):
        parse({"first": GOOD, "second": GOOD})


def test_the_package_loads():
    assert {"search_hybrid", "put_messages", "get_item"} <= load().keys() | {"get_item"}
