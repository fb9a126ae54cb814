"""Benchmarks ask neither git nor nvidia-smi."""

import pytest
from commands_for_tests import without_facts_of_the_machine


@pytest.fixture(autouse=True)
def _without_facts_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    without_facts_of_the_machine(monkeypatch)
