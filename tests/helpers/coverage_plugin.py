"""A plugin of pytest for `tests/faults --map`: which lines of the program each test executes."""

import os
from collections.abc import Generator
from pathlib import Path

import coverage
import pytest

_PACKAGE = Path(__file__).parents[2] / "islands"
_measured = coverage.Coverage(
    os.environ["ISLANDS_COVERAGE"], data_suffix=True, source=[str(_PACKAGE)], config_file=False
)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    _measured.start()
    _measured.switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        _measured.stop()


def pytest_sessionfinish() -> None:
    _measured.save()
