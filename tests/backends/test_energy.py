"""Energy of GPUs, by a fake NVML: there is a line about it only if NVML tells it."""

from __future__ import annotations

import pytest

from islands.progress.usage import EnergyMeter
from islands.testing.ranks import on_ranks


class Counter:
    """A device with a counter that each reading advances."""

    def __init__(self, identity: str, step: float | None) -> None:
        self.identity, self._step, self._now = identity, step, 1000.0

    def joules(self) -> float | None:
        if self._step is None:
            return None
        self._now += self._step
        return self._now


@pytest.mark.parametrize(
    ("devices", "energy"),
    [
        ([("a", 5.0), ("b", 7.0)], 12.0),
        ([("a", 5.0), ("a", 5.0)], 5.0),  # two ranks share a GPU
        ([("a", 5.0), ("b", None)], None),
    ],
)
def test_the_energy_of_all_ranks_counts_each_gpu_once(
    devices: list[tuple[str, float | None]], energy: float | None
) -> None:
    found = on_ranks(
        2,
        lambda world: EnergyMeter(Counter(*devices[world.rank]), world).of_all_ranks(),  # type: ignore[arg-type]
    )
    assert found == [energy, energy]
