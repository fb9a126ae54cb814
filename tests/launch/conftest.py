"""The fake machine of these tests, most of which are slow: each starts scripts."""

from pathlib import Path

import pytest
from fake_machine import Machine

_QUICK = {
    "test_each_rank_gets_a_gpu_with_close_cores_and_memory",
    "test_a_restart_has_one_rank_fewer",
    "test_quickstart_installs_once_and_passes_its_arguments_on",
}


def _starts_scripts(item: pytest.Item) -> bool:
    return item.path.parent == Path(__file__).parent and item.path.name != "test_packaging.py"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _starts_scripts(item) and item.name not in _QUICK:
            item.add_marker("slow")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)
