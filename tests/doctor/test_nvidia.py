"""Parsing of nvidia-smi's output, with tables of real machines."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from islands.doctor import nvidia
from islands.doctor.nvidia import Gpu

LIST = """\
0, GPU-8932f937-d72c-4106-c12f-20bd9faed9f6, NVIDIA H200, 143771, 580.159.03
1, GPU-02e2ba0c-47a3-4f27-9b2d-52e3a0be6a41, NVIDIA H200, 143771, 580.159.03
"""


Says = list[str]


@pytest.fixture
def smi(monkeypatch: pytest.MonkeyPatch) -> Says:
    """Return what nvidia-smi says."""
    says = [LIST]

    def run(line: list[str], **_: Any) -> Any:
        return subprocess.CompletedProcess(line, 0, says[0], "")

    monkeypatch.setattr(subprocess, "run", run)
    return says


def test_the_gpus_of_this_host(smi: Says) -> None:
    first, second = nvidia.gpus()
    assert nvidia.driver() == "580.159.03"
    uuid = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"
    assert first == Gpu(0, uuid, "NVIDIA H200", 143771, "580.159.03")
    assert second.identity == "02e2ba0c47a34f279b2d52e3a0be6a41"


@pytest.mark.parametrize(
    "said", ["", "No devices were found\n", "NVIDIA-SMI has failed because it could not\n"]
)
def test_a_driver_without_gpus(smi: Says, said: str) -> None:
    smi[0] = said
    assert nvidia.gpus() == []


def test_without_a_driver_nothing_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert nvidia.gpus() == []
