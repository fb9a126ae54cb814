"""Examine the machines of all ranks; every rank gets the result."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from islands.doctor import nvidia
from islands.doctor.nvidia import Gpu, Link
from islands.doctor.place import Place, take
from islands.doctor.software import compile_troubles, compiler, versions
from islands.doctor.startup import Startup, timed_start
from islands.doctor.transports import TransportResult, trials
from islands.errors import IslandsError
from islands.parallel import World
from islands.parallel.library import vendor


@dataclass(frozen=True)
class Checkup:
    """The software, devices and transports of the ranks' machines, and the problems found."""

    versions: dict[str, str]
    compiler: str | None
    """The compiler of the CPU backend, or None."""
    mpi: tuple[str, str] | None
    """Name with version, and the library's description."""
    gpus: dict[str, list[Gpu]]
    """GPUs by host."""
    links: list[Link]
    ranks: list[Place]
    transports: list[TransportResult]
    problems: list[str]
    """What should work but does not."""
    startup: Startup | None = None
    """The time to the first row by step, on the device of rank 0."""


def examine(world: World) -> Checkup:
    """Try everything that a run on these ranks would use; collective."""
    gpus = nvidia.gpus()
    backend, place, troubles = take(world, gpus)
    # The first rank of a host compiles; the others use its cached programs.
    if world.local_rank > 0:
        world.barrier()
    if backend is not None:
        troubles += compile_troubles(backend)
    if world.local_rank == 0:
        world.barrier()
    mpi = None
    try:
        mpi = vendor()
    except IslandsError as error:
        troubles.append(str(error))
    lacking = world.any(backend is None)
    transports = [] if backend is None or lacking else trials(world, backend)
    is_first = world.local_rank == 0
    times = world.rank == 0 and backend is not None and not troubles
    found = world.allgather(
        (
            place,
            versions(),
            gpus if is_first else [],
            nvidia.links(place.host) if is_first else [],
            troubles,
            timed_start(place.backend) if times else None,
        )
    )
    places = [each[0] for each in found]
    problems = _unique([each[4] for each in found], places)
    problems += _differences([each[1] for each in found], places) + _shared(places)
    problems += [
        f"the transport {trial.transport} fails: {trial.trouble}"
        for trial in transports
        if trial.trouble
    ]
    return Checkup(
        versions=found[0][1],
        compiler=compiler(),
        mpi=mpi,
        gpus={each[0].host: each[2] for each in found if each[0].local_rank == 0},
        links=[link for each in found for link in each[3]],
        ranks=places,
        transports=transports,
        problems=problems,
        startup=found[0][5],
    )


def _unique(troubles: list[list[str]], places: list[Place]) -> list[str]:
    """Return each trouble once, with its hosts unless all hosts have it."""
    hosts = defaultdict(set)
    for place, each in zip(places, troubles, strict=True):
        for trouble in each:
            hosts[trouble].add(place.host)
    everywhere = {place.host for place in places}
    return [
        trouble if having == everywhere else f"on {', '.join(sorted(having))}: {trouble}"
        for trouble, having in hosts.items()
    ]


def _differences(installed: list[dict[str, str]], places: list[Place]) -> list[str]:
    """Return the packages whose version on a rank differs from rank 0."""
    first = installed[0]
    found = [
        f"{name} is {first.get(name, 'none')} on {places[0].host}, but {own.get(name, 'none')} on"
        f" {place.host}. Install the same on all hosts"
        for place, own in zip(places, installed, strict=True)
        for name in sorted(own.keys() | first.keys())
        if own.get(name) != first.get(name)
    ]
    return list(dict.fromkeys(found))


def _shared(places: list[Place]) -> list[str]:
    """Return a sentence for each GPU that several ranks would share."""
    takers = defaultdict(list)
    for place in places:
        if place.gpu is not None:
            takers[place.host, place.gpu.number].append(str(place.rank))
    return [
        f"ranks {', '.join(ranks)} share GPU {number} of {host}, which a run refuses."
        " Start one rank per GPU, or pass --share-gpu"
        for (host, number), ranks in takers.items()
        if len(ranks) > 1
    ]
