"""Parsing of nvidia-smi's output, with tables of real machines."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from islands.doctor import nvidia
from islands.doctor.nvidia import Gpu, Link

LIST = """\
0, GPU-8932f937-d72c-4106-c12f-20bd9faed9f6, NVIDIA H200, 143771, 580.159.03
1, GPU-02e2ba0c-47a3-4f27-9b2d-52e3a0be6a41, NVIDIA H200, 143771, 580.159.03
"""
# Two GPUs with a network card; some versions underline the header.
TOPOLOGY, PEERS = (
    Path(__file__).with_name(f"{name}.txt").read_text() for name in ("topology", "peers")
)


Says = dict[str, str]


@pytest.fixture
def smi(monkeypatch: pytest.MonkeyPatch) -> Says:
    """Return nvidia-smi's output for its options."""
    says = {"nounits": LIST, "-m": TOPOLOGY, "r": PEERS}

    def run(line: list[str], **_: Any) -> Any:
        said = next(text for end, text in says.items() if " ".join(line).endswith(end))
        return subprocess.CompletedProcess(line, 0, said, "")

    monkeypatch.setattr(subprocess, "run", run)
    return says


def test_the_gpus_of_this_host(smi: Says) -> None:
    first, second = nvidia.gpus()
    assert nvidia.driver() == "580.159.03"
    uuid = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"
    assert first == Gpu(0, uuid, "NVIDIA H200", 143771, "580.159.03")
    assert second.identity == "02e2ba0c47a34f279b2d52e3a0be6a41"


def test_the_links_between_the_gpus(smi: Says) -> None:
    assert nvidia.links("alpha") == [Link("alpha", 0, 1, "NV18", peer_access=True)]
    smi["r"] = PEERS.replace("OK", "CNS")
    assert nvidia.links("alpha") == [Link("alpha", 0, 1, "NV18", peer_access=False)]
    smi["-m"] = "\tGPU0\tCPU Affinity\nGPU0\t X \t0-15\n"
    assert nvidia.links("alpha") == []


@pytest.mark.parametrize(
    "said", ["", "No devices were found\n", "NVIDIA-SMI has failed because it could not\n"]
)
def test_a_driver_without_gpus(smi: Says, said: str) -> None:
    smi.update(dict.fromkeys(smi, said))
    assert (nvidia.gpus(), nvidia.links("alpha")) == ([], [])


def test_without_a_driver_nothing_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert (nvidia.gpus(), nvidia.links("alpha")) == ([], [])
