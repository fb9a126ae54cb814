"""Energy of GPUs, by a fake NVML: there is a line about it only if NVML tells it."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from islands.backends.gpus import joules
from islands.progress.usage import EnergyMeter
from islands.testing.ranks import on_ranks

IDENTITY = "00112233445566778899aabbccddeeff"


class NVMLError(Exception):
    pass


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return a fake of the package, which knows one GPU with a counter in millijoules."""
    fake = ModuleType("pynvml")

    def device(uuid: str) -> str:
        if uuid != "GPU-00112233-4455-6677-8899-aabbccddeeff":
            raise NVMLError(uuid)
        return "device"

    fake.__dict__.update(
        NVMLError=NVMLError,
        nvmlInit=lambda: None,
        nvmlDeviceGetHandleByUUID=device,
        nvmlDeviceGetTotalEnergyConsumption={"device": 12_345}.get,
    )
    monkeypatch.setitem(sys.modules, "pynvml", fake)
    return fake


def test_nvml_tells_the_energy_of_a_gpu(nvml: ModuleType) -> None:
    assert joules(IDENTITY) == 12.345


def test_without_the_package_or_the_gpu_the_energy_is_unknown(
    nvml: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert joules("f" * 32) is None
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert joules(IDENTITY) is None


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


def test_without_a_device_the_energy_is_unknown() -> None:
    assert on_ranks(1, lambda world: EnergyMeter(None, world).of_all_ranks()) == [None]
