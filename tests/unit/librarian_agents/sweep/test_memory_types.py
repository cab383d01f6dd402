from typing import get_args

import pytest

from librarian.base import fields
from librarian_agents.sweep.memory_types import MemoryType


@pytest.mark.parametrize("type_", MemoryType)
def test_what_is_printed_is_parsed_again(type_):
    assert MemoryType.parse(str(type_)) is type_
    assert MemoryType.parse(f"  {type_.upper()}\n") is type_


@pytest.mark.parametrize("name", ["", "Decisions", "Exception!", "x" * 500])
def test_another_name_is_refused_and_the_known_ones_are_listed(name):
    with pytest.raises(ValueError, match="Pattern, Decision, Problem") as raised:
        MemoryType.parse(name)
    assert len(str(raised.value)) < 200


def test_the_wire_has_the_same_types():
    assert list(get_args(fields.MemoryType)) == list(MemoryType)
