"""Which search a query gets."""

import pytest

from retrieval.locate import plan_lookup


@pytest.mark.parametrize(
    ("query", "shape", "path", "text", "meaning"),
    [
        ("src/app.py", "path", True, None, False),
        ("app.py", "path", True, None, False),
        ("librarian/files/", "path", True, None, False),
        ("AgentState", "identifier", True, "AgentState", False),
        ("agent_state", "identifier", True, "agent_state", False),
        ("models.Model.save()", "identifier", True, "save", False),
        ("where is AgentState defined?", "definition", True, "AgentState", False),
        ("Where's AgentState defined", "definition", True, "AgentState", False),
        ("where is the class AgentState defined?", "definition", True, "AgentState", False),
        ("definition of agent_state", "definition", True, "agent_state", False),
        ("class AgentState", "definition", True, "AgentState", False),
        ("where is _is_asgi3 defined", "definition", True, "_is_asgi3", False),
        ('"connection refused"', "phrase", False, "connection refused", False),
        ('why does it say "connection refused"?', "phrase", False, "connection refused", True),
        ("how are retries configured?", "question", False, None, True),
        ("what does parse_url do?", "question", False, "parse_url", True),
        ("release notes", "phrase", True, "release notes", True),
        ("where is the config loaded?", "question", False, None, True),
        ("レポートはどこで作られますか？", "question", False, None, True),
        ("AsyncClientはどこで定義されていますか", "definition", True, "AsyncClient", False),
        ("AsyncClientクラスを開いて", "definition", True, "AsyncClient", False),
        ("autoreloadモジュールを開いて", "path", True, None, True),
        ("AsyncClientクラスはどのファイルにありますか", "definition", True, "AsyncClient", False),
        ("Open the Agent class", "definition", True, "Agent", False),
        ("where is LockTimeout?", "definition", True, "LockTimeout", False),
        ("show definition of AsyncClient.aclose", "definition", True, "aclose", False),
        ("AsyncClient.aclose", "identifier", True, "aclose", False),
        ("Foo::bar", "identifier", True, "bar", False),
        ("which file defines parse_url?", "definition", True, "parse_url", False),
        ("Open the autoreload module", "path", True, None, True),
        ("the ModelForm file", "phrase", True, "the ModelForm file", True),
        ("where does Anna live?", "question", False, None, True),
    ],
)
def test_the_shape_decides(query, shape, path, text, meaning):
    """Paths among paths, names both ways, phrases exactly, questions by meaning; and why."""
    plan = plan_lookup(query)
    assert (plan.shape, plan.path is not None, plan.text, plan.meaning is not None) == (shape, path, text, meaning)
    assert plan.why


def test_a_qualified_name_keeps_its_qualifiers():
    """So that the right one of several definitions comes first."""
    assert plan_lookup("show definition of AsyncClient.aclose").qualifiers == ("AsyncClient",)
    assert plan_lookup("ns::Foo::bar").qualifiers == ("ns", "Foo")
    assert plan_lookup("open the class Agent").kind == "class"
