"""Rules of retention as settings give them."""

import pytest

from librarian.base.errors import SettingsError
from librarian.sweep.contracts import RetentionRule
from librarian.sweep.retention import rules_of


def test_rules_of_the_settings_are_checked():
    """A wrong one is named, with the field and an example."""
    rules = rules_of('[{"kinds": ["message"], "older_than_days": 365}]')
    assert rules == [RetentionRule(kinds=["message"], older_than_days=365)]
    for wrong in ('[{"kinds": ["message"]}]', '[{"older_than_days": 0}]', "messages"):
        with pytest.raises(SettingsError, match="LIBRARIAN_RETENTION: ") as raised:
            rules_of(wrong)
        assert "older_than_days" in (raised.value.remedy or "")
