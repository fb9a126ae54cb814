"""Checkups of fake machines."""

from __future__ import annotations

from islands.doctor.checkup import SIZES, Checkup, Place, Timing, TransportResult
from islands.doctor.nvidia import Gpu, Link

DRIVER = "580.159.03"


def gpu(number: int, driver: str = DRIVER) -> Gpu:
    return Gpu(number, f"GPU-{number:032x}", "NVIDIA H200", 143771, driver)


def place(rank: int, host: str = "alpha", on: Gpu | None = None) -> Place:
    backend, device = ("cpu", "CPU, 8 threads") if on is None else ("cuda", on.name)
    return Place(rank, host, rank % 2, "0-7", backend, device, on)


def trial(transport: str, trouble: str = "", measured: int = len(SIZES)) -> TransportResult:
    timings = [Timing(size, 20.0, round(size / 20e3, 3)) for size in SIZES[:measured]]
    return TransportResult(transport, trouble, timings)


def checkup(
    ranks: list[Place],
    gpus: list[Gpu],
    transports: list[TransportResult],
    *,
    mpi: tuple[str, str] | None = ("Open MPI 5.0.11", "Open MPI v5.0.11, package: ..."),
    problems: list[str] | None = None,
    **packages: str,
) -> Checkup:
    links = [Link("alpha", 0, 1, "NV18", peer_access=True)] if len(gpus) > 1 else []
    return Checkup(
        versions={"islands": "0.1.0", "python": "3.11.7", **packages},
        compiler="/usr/bin/c++ (12.2.0)",
        mpi=mpi,
        gpus={"alpha": gpus},
        links=links,
        ranks=ranks,
        transports=transports,
        problems=problems or [],
    )
