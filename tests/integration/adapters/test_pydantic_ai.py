"""A toolset that Pydantic AI's agents call."""

from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from librarian.adapters.pydantic_ai import LibrarianToolset


async def test_an_agent_remembers_and_recalls(service, namespace):
    """In Pydantic AI itself, with a model that is scripted."""
    script = [
        ModelResponse([ToolCallPart("remember", {"text": "Ada likes window seats."})]),
        ModelResponse([ToolCallPart("recall", {"question": "Which seats does Ada like?"})]),
        ModelResponse([TextPart("Window seats.")]),
    ]
    offered, came = [], []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        offered[:] = info.function_tools
        came.extend(part.content for part in messages[-1].parts if part.part_kind == "tool-return")
        return script.pop(0)

    toolset = LibrarianToolset(namespace, **service.access)
    done = await Agent(FunctionModel(model), toolsets=[toolset]).run("Which seats does Ada like? She likes windows.")
    await toolset.aclose()
    assert done.output == "Window seats."
    assert [tool.name for tool in offered] == ["recall", "remember"]
    assert offered[0].description.startswith("Get what is remembered about a question")
    assert offered[1].parameters_json_schema["properties"]["text"]["description"].startswith("A statement")
    assert came[0].startswith("remembered as ")
    assert "Ada likes window seats." in came[1]
