"""The order of a run."""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that start servers of their own come first: at the end they would keep one process busy and leave the other
    one idle.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
