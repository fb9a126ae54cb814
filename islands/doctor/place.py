"""The host, cores and device of a rank."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass

from islands.backends import automatic, choose, takes_gpu
from islands.backends.base import Backend
from islands.backends.gpus import assigned
from islands.doctor.nvidia import Gpu
from islands.doctor.software import cores
from islands.errors import IslandsError
from islands.parallel import World


@dataclass(frozen=True)
class Place:
    """A rank's host, cores and device."""

    rank: int
    host: str
    local_rank: int
    cores: str
    backend: str
    device: str
    gpu: Gpu | None
    """The driver's data on the GPU that the rank uses."""


def take(world: World, gpus: list[Gpu]) -> tuple[Backend | None, Place, list[str]]:
    """Return the device that a run would use, its place, and troubles with better devices.

    Collective. Ranks may share a GPU here, so that everything else can be tried.
    """
    backend, gpu, troubles = None, None, []
    try:
        visible = _visible()
    except IslandsError as error:
        visible, troubles = [], [str(error)]
    everyone = world.local_allgather(visible)
    numbers = assigned([each for each in everyone if each], platform.node(), share=True)
    try:
        if visible:
            number = numbers[sum(bool(each) for each in everyone[: world.local_rank])]
            gpu = next((gpu for gpu in gpus if gpu.identity == visible[number]), None)
            backend = choose("cuda", gpu=number)
        else:
            backend = choose("cpu", sharers=world.local_size)
            if gpus and os.environ.get("CUDA_VISIBLE_DEVICES") != "":
                troubles.append(f"the GPUs are not used: {automatic()[1]}. {install_hint(gpus)}")
    except IslandsError as error:
        troubles.append(str(error))
    name, device = (backend.name, backend.device) if backend is not None else ("none", "none")
    place = Place(world.rank, platform.node(), world.local_rank, cores(), name, device, gpu)
    return backend, place, troubles


def install_hint(gpus: list[Gpu]) -> str:
    """Return how to install the packages that these GPUs need."""
    major = gpus[0].driver.partition(".")[0]
    extra = "cuda13" if major.isdigit() and int(major) >= 580 else "cuda12"
    return f"Install their packages with: pip install 'islands[mpi,{extra}]'"


def _visible() -> list[str]:
    if not takes_gpu("auto"):
        return []
    from islands.backends.gpus import identities

    return identities()
