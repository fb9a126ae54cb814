"""The ways of GPUs on a CPU."""

from typing import Any

import pytest

from islands.archipelago import parts


@pytest.fixture
def on_gpu_paths(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that lets the CPU evaluate as GPUs do: in tiles, or in batches."""
    usual = parts._evaluated_by

    def choose(is_on: bool) -> None:
        def chosen(*asked: Any, on_cpu: bool) -> str:
            return usual(*asked, on_cpu=on_cpu and not is_on)

        monkeypatch.setattr(parts, "_evaluated_by", chosen)

    return choose
