"""Create the device and the islands of a run on this rank."""

import os
import platform
import sys
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from islands.archipelago.archipelago import Archipelago
from islands.backends import choose, gpus, is_gpu
from islands.backends.base import Backend
from islands.configuration.resolved import Resolved
from islands.configuration.spec import RunSpec
from islands.engine.budget import colonies_of
from islands.errors import InputError, RunError
from islands.instances.solution_files import counting_as_in
from islands.migration import Ranks, Transport
from islands.migration.transport import find
from islands.parallel import World
from islands.problems.base import Problem, Solution
from islands.text import show


@dataclass(frozen=True)
class RankOptions:
    """How the ranks of a command cooperate; not stored with the settings of a run."""

    share_gpu: bool = False
    """Whether several ranks may use the same GPU."""
    asynchronous: bool = False
    """Whether ranks do not wait for each other; a run then cannot be repeated exactly."""
    device: Backend | None = None
    """The device of this rank; None to choose it by the settings and the ranks of the host."""


_idle: defaultdict[Hashable, list[Backend]] = defaultdict(list)
"""The devices of earlier runs of this process, with their compiled programs."""
_VARIABLES = ("CXX", "ISLANDS_CACHE", "CUDA_VISIBLE_DEVICES")
"""The environment variables on which devices and their programs depend."""


def take_device(
    world: World, name: str, threads: int | None = None, *, share_gpu: bool = False
) -> Backend:
    """Return the backend `name` on the device of this rank; collective.

    A single rank reuses the device of an earlier run, if there is one.
    """
    kept = (name, threads, share_gpu, os.getpid(), *map(os.environ.get, _VARIABLES))
    if world.size == 1 and _idle[kept]:
        device = _idle[kept].pop()
        device.begin_run()
        return device
    visible = world.run_on_all(lambda: gpus.identities() if is_gpu(name) else [])
    by_rank = world.local_allgather(visible)

    def chosen() -> Backend:
        if not visible:
            return choose(name, threads, sharers=world.local_size)
        with_gpus = [*filter(None, by_rank)]
        numbers = gpus.assigned(with_gpus, platform.node(), share=share_gpu)
        used = [names[number] for names, number in zip(with_gpus, numbers, strict=True)]
        place = sum(map(bool, by_rank[: world.local_rank]))
        return choose(name, threads, numbers[place], used.count(used[place]))

    device = world.run_on_all(chosen)
    device.kept_as = kept if world.size == 1 else None
    return device


def give_back(device: Backend) -> None:
    """Keep a device, with its compiled programs, for the next run."""
    device.compiling.announce = None
    if device.kept_as is not None:
        _idle[device.kept_as].append(device)


def forget_devices() -> None:
    """Discard the devices that earlier runs have given back."""
    _idle.clear()


def shared_memory(name: str) -> int | None:
    """Return the largest shared memory of a block on any GPU, in bytes; None on a CPU."""
    if not is_gpu(name):
        return None
    return max(map(gpus.shared_memory, range(gpus.devices())), default=None)


def islands_of(
    resolved: Resolved,
    world: World,
    backend: Backend,
    *,
    transport: type[Transport] | None = None,
    team: World | None = None,
    asynchronous: bool = False,
    warm_start: Callable[[], Sequence[Solution]] = tuple,
) -> Archipelago:
    """Return this rank's islands; for the arguments see `Ranks` and `Archipelago`."""
    spec, deal = resolved.spec, resolved.deal(world.size)
    return Archipelago(
        problem=resolved.problem,
        colonies=colonies_of(resolved),
        seed=spec.general.seed,
        migration=spec.migration,
        backend=backend,
        ranks=Ranks(world, deal, transport, team, asynchronous),
        warm_start=warm_start,
    )


def make_archipelago(
    resolved: Resolved,
    world: World,
    backend: Backend,
    *,
    asynchronous: bool = False,
    resumes: bool = False,
) -> Archipelago:
    """Return this rank's islands before their first generation; collective."""
    warm_start = cache(lambda: read_start(resolved))
    if not resumes:
        # A resumed run does not need these files, and they may have been removed.
        world.run_on_all(warm_start)
    transport, deal = None, resolved.deal(world.size)
    team = world.split(deal.team(world.rank).start) if deal.largest_team > 1 else None
    if team is not None or has_halo(resolved.spec) or resolved.spec.migrates:
        transport, trouble = find(world, backend)
        if trouble and world.rank == 0:
            show(f"islands: {trouble}", file=sys.stderr)
    return world.run_on_all(
        lambda: islands_of(
            resolved,
            world,
            backend,
            transport=transport,
            warm_start=warm_start,
            team=team,
            asynchronous=asynchronous,
        )
    )


def has_halo(spec: RunSpec) -> bool:
    """Return whether the islands are slices of one population."""
    return bool(getattr(spec.settings, "halo", False))


def read_start(resolved: Resolved) -> list[Solution]:
    """Return the start solutions; reject files that contain no valid solution."""
    spec, problem = resolved.spec, resolved.problem
    return [*(_checked_solution(problem, Path(path)) for path in spec.start), *spec.given]


def _checked_solution(problem: Problem, path: Path) -> Solution:
    solution = problem.read_solution(path)
    try:
        with counting_as_in(path):
            problem.check(solution)
    except RunError as error:
        raise InputError(f"{path}: {error}") from error
    return solution
