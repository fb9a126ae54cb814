"""Parsing of nvidia-smi's output, with tables of real machines."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from commands_for_tests import Patch

from islands.doctor import nvidia
from islands.doctor.nvidia import Gpu, Link

LIST = """\
0, GPU-8932f937-d72c-4106-c12f-20bd9faed9f6, NVIDIA H200, 143771, 580.159.03
1, GPU-02e2ba0c-47a3-4f27-9b2d-52e3a0be6a41, NVIDIA H200, 143771, 580.159.03
"""
# Two GPUs with a network card; some versions underline the header.
TOPOLOGY = """\
\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m
GPU0\t X \tNV18\tPIX\t0-47\t0\t\tN/A
GPU1\tNV18\t X \tSYS\t48-95\t1\t\tN/A
NIC0\tPIX\tSYS\t X

Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes
  NV#  = Connection traversing a bonded set of # NVLinks
"""
PEERS = """\
 \tGPU0\tGPU1
 GPU0\tX\tOK
 GPU1\tOK\tX

Legend:

  X    = Self
  OK   = Status Ok
  CNS  = Chipset not supported
"""


@pytest.fixture
def smi(tmp_path: Path, monkeypatch: Patch) -> Path:
    """Return the folder whose files a fake nvidia-smi prints."""
    script = tmp_path / "nvidia-smi"
    script.write_text(
        f"#!/bin/sh\ncase $* in\n"
        f"    --query-gpu*) cat '{tmp_path}/list' ;;\n"
        f"    'topo -m') cat '{tmp_path}/topology' ;;\n"
        f"    'topo -p2p r') cat '{tmp_path}/peers' ;;\n"
        "esac\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    for name, text in (("list", LIST), ("topology", TOPOLOGY), ("peers", PEERS)):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_gpus_of_this_host(smi: Path) -> None:
    first, second = nvidia.gpus()
    assert nvidia.driver() == "580.159.03"
    uuid = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"
    assert first == Gpu(0, uuid, "NVIDIA H200", 143771, "580.159.03")
    assert second.identity == "02e2ba0c47a34f279b2d52e3a0be6a41"


def test_the_links_between_the_gpus(smi: Path) -> None:
    assert nvidia.links("alpha") == [Link("alpha", 0, 1, "NV18", peer_access=True)]
    (smi / "peers").write_text(PEERS.replace("OK", "CNS"))
    assert nvidia.links("alpha") == [Link("alpha", 0, 1, "NV18", peer_access=False)]
    (smi / "topology").write_text("\tGPU0\tCPU Affinity\nGPU0\t X \t0-15\n")
    assert nvidia.links("alpha") == []


@pytest.mark.parametrize(
    "said", ["", "No devices were found\n", "NVIDIA-SMI has failed because it could not\n"]
)
def test_a_driver_without_gpus(smi: Path, said: str) -> None:
    for name in ("list", "topology", "peers"):
        (smi / name).write_text(said)
    assert (nvidia.gpus(), nvidia.links("alpha")) == ([], [])


def test_without_a_driver_no_gpus_and_links_are_listed(monkeypatch: Patch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (nvidia.gpus(), nvidia.links("alpha")) == ([], [])
