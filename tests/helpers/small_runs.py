"""Small runs in separate processes, as faults in kernels may end them.

`small_runs.py NAME` runs one on two CPU threads; its kernels use a `Scratch` with checked bounds.
`small_runs.py NAME --emulated` runs it on one thread of the CPU and on an emulated GPU whose
threads take turns in two orders, and prints a digest for each. `--replace FILE OLD NEW`, which may
be repeated, first replaces a text in one of the kernels. With `--crowded`, blocks have the sizes
for many islands. Under mpirun, ranks share the islands.
"""

import argparse
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import Lock
from typing import Any
from unittest.mock import patch

from colonies_for_tests import in_teams, one_colony
from eax_for_tests import field
from emulated_gpu import EmulatedGpu
from mixed_for_tests import mixed_by
from own_steps import problem as problem_of_steps
from problems_for_tests import NUMBERS, cities, facilities, knapsack, of_two_kinds, streets

from islands.algorithms import ALGORITHMS, eax
from islands.algorithms.operators import CROSSOVERS
from islands.algorithms.tempering import sparse
from islands.archipelago.archipelago import Archipelago
from islands.backends import choose, source
from islands.backends.base import Backend, scratch_bytes
from islands.improvers import ImproverSettings
from islands.instances.grids import grid
from islands.migration import MigrationSettings
from islands.models import job_shop
from islands.parallel import World, world
from islands.paths import data_folder
from islands.problems.base import Problem
from islands.problems.mkp import MkpSettings
from islands.problems.qap import Qap

_TESTS = Path(__file__).parents[1]
_ANY_SIZE = patch.object(sparse.SparseChains, "fewest", 0)
_INSIDE: list[None] = []
"""Threads for which it is patched: ranks may be threads, which would restore values of another."""
_LOCK = Lock()
_GUARD = 64  # bytes behind a part, as in checked_scratch.cuh


def checked_kernels(folder: Path) -> Path:
    """Return a copy of the kernels with the checked `Scratch`."""
    kernels = folder / "kernels"
    shutil.copytree(data_folder("kernels"), kernels)
    scratch = kernels / "core" / "scratch.cuh"
    text = scratch.read_text(encoding="utf-8")
    checked = (_TESTS / "kernels" / "checked_scratch.cuh").read_text(encoding="utf-8")
    # Keep what follows the class.
    scratch.write_text(checked + text[text.index("};") + len("};") :], encoding="utf-8")
    return kernels


def guarded_bytes(*parts: int) -> int:
    """Return the bytes of parts of a checked `Scratch`, each with a guard behind it."""
    return scratch_bytes(*parts) + _GUARD * len(parts)


_PROBLEMS: dict[str, Callable[[], Problem]] = {
    **{name: lambda kind=kind: kind(11) for name, kind in NUMBERS.items()},
    "tsp": lambda: cities(17),
    "more cities": lambda: cities(80),
    "most cities": lambda: cities(66_000),
    "directed": lambda: streets(60),
    "joined": lambda: streets(60, symmetric=True, start=3, fixed=[(7, 9), (9, 20), (31, 30)]),
    "core": lambda: knapsack(150, 5, largest=99_999),
    "choice": lambda: of_two_kinds(40, 15, symmetric="neither"),
    "bytes": lambda: facilities(47),
    "mixed": lambda: mixed_by("cost"),
    "grid": lambda: Qap(grid(5, 6, hidden=2).file()),
    "turned grid": lambda: Qap(grid(5, 6, hidden=2).file(turned=True)),
    "steps": problem_of_steps,
    # More operations than a warp has lanes; some take no time, so that steps may be impossible.
    "shop": lambda: job_shop(
        [[(j + k * (1 + j % 4)) % 5 for k in range(5)] for j in range(9)],
        [[(3 * j + 2 * k) % 6 for k in range(5)] for j in range(9)],
    ),
    "dated shop": lambda: job_shop(
        *([[0, 1, 2], [2, 0, 1], [1, 2, 0], [0, 2, 1]], [[5, 3, 7]] * 4),
        release=[0, 4, 2, 9],
        due=[20, 15, 18, 25],
        weights=[4, 2, 2, 1],
        objective="tardiness",
    ),
    "flexible shop": lambda: job_shop(
        [[[0, 1, 2], [2, 0], [1]]] * 12, [[[5, 3, 7], [4, 6], [5]]] * 12
    ),
    "qap": lambda: facilities(12, symmetric="neither", diagonal=True, largest=70_000),
    **{
        way: lambda way=way: knapsack(40, 5, largest=1 << 45).adjusted(MkpSettings(infeasible=way))
        for way in ("repair", "linear", "dynamic")
    },
}
"""Functions that create the problems of the runs."""

# A problem, or a way to handle infeasible subsets of the knapsack; algorithm, encoding, improver.
RUNS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "tsp": ("tsp", "brkga", "keys", {"name": "two_opt", "every": 2}),
    "eax": ("more cities", "eax", "permutation", {"name": "none"}),
    "directed": ("directed", "eax", "doubled", {"name": "none"}),
    "joined": ("joined", "eax", "permutation", {"name": "none"}),
    # Wide positions, and more cells of the local search than usual.
    "many cities": ("most cities", "eax", "permutation", {"name": "none"}),
    "or_opt": ("tsp", "ga", "permutation", {"name": "or_opt"}),
    "qap": ("qap", "cellular", "permutation", {"name": "tabu", "aspiration": 9, "steps": 30}),
    "tempering": ("qap", "tempering", "permutation", {"name": "none"}),
    "choice": ("choice", "tempering", "permutation", {"name": "none"}),
    "core": ("core", "tempering", "bits", {"name": "none"}),
    "steps": ("steps", "tempering", "bits", {"name": "none"}),
    "shop": ("shop", "tempering", "permutation", {"name": "none"}),
    "dated shop": ("dated shop", "tempering", "permutation", {"name": "none"}),
    "flexible shop": ("flexible shop", "tempering", "permutation", {"name": "none"}),
    "growth": ("grid", "growth", "permutation", {"name": "none"}),
    "network": ("turned grid", "tempering", "permutation", {"name": "none"}),
    "memetic": ("qap", "memetic", "permutation", {"name": "tabu", "steps": 30}),
    "tiles": ("bytes", "memetic", "permutation", {"name": "tabu", "steps": 70}),
    "exchange": ("repair", "de", "keys", {"name": "exchange22", "strategy": "best"}),
    "tabu": ("linear", "ga", "bits", {"name": "tabu", "core": 20}),
    "swarm": ("dynamic", "pso", "bits", {"name": "none"}),
    "vector": ("vector", "cellular", "vector", {"name": "none"}),
    "keys": ("keys", "pso", "keys", {"name": "none"}),
    "mixed": ("mixed", "de", "vector", {"name": "none"}),
    **{
        # More cities than threads in a block, so that a missing barrier is noticed.
        name: ("more cities", "ga", "permutation", {"name": "none"})
        for name in ("order", "cycle", "uniform", "uniform_like", "pmx")
    },
}
"""Some names are crossovers, which the run then uses."""

_FEW = {"proposals": 100}


@contextmanager
def _networks_of_any_size() -> Iterator[None]:
    """Let small networks have the chains of large ones, until no thread is inside any longer."""
    with _LOCK:
        if not _INSIDE:
            _ANY_SIZE.start()
        _INSIDE.append(None)
    try:
        yield
    finally:
        with _LOCK:
            _INSIDE.pop()
            if not _INSIDE:
                _ANY_SIZE.stop()


def made(
    name: str,
    backend: Backend,
    ranks: World | None = None,
    *,
    islands: int = 3,
    population: int | None = None,
    shares_all: bool = False,
    **migration: Any,
) -> Archipelago:
    """Return the islands of a run on one of the ranks, which share them if there are more."""
    of, algorithm, encoding, improver = RUNS[name]
    own = {"eax": {"children": 5}, "growth": {"growths": 20, "sweeps": 2, "batches": 3}}
    asked: dict[str, Any] = own.get(algorithm, {"reset": 2})
    asked |= {"elite": 0.2} if algorithm == "brkga" else {}
    asked |= {"first_tours": "random"} if name == "joined" else {}
    if algorithm == "tempering":
        asked |= {"sweeps": 20, "tuning": 4, "patience": 1, "descent": int(of == "choice")}
        # Enough to move often: the emulated threads of a shop take turns for each proposal.
        few = {"shop": _FEW, "flexible shop": _FEW, "turned grid": {"sweeps": 4}}
        asked |= {"core": {"proposals": 4000}, **few}.get(of, {})
    if name in CROSSOVERS:
        asked |= {"crossover": name, "mutation": "insertion"}
    settings = ALGORITHMS[algorithm].Settings.build(asked)
    drawn = {"topology": "random", "selection": "roulette", "replacement": "random"}
    islands = 1 if of == "most cities" else islands
    usual = 16 if algorithm != "eax" else 2 if of == "most cities" else 8
    with _networks_of_any_size() if name == "network" else nullcontext():
        return one_colony(
            problem=_PROBLEMS[of](), algorithm=algorithm, encoding=encoding,
            settings=ALGORITHMS[algorithm].completed(settings, encoding),
            population=population or usual, islands=islands, seed=11,
            migration=MigrationSettings.build(drawn | migration), backend=backend,
            improver=ImproverSettings.build(improver),
            ranks=in_teams(ranks or World(), backend, islands, shares_all=shares_all),
        )  # fmt: skip


def evolve(name: str, mine: Archipelago) -> None:
    """Run generations and migrations; islands with edge assembly crossover begin again."""
    mine.start()
    for _ in range(1 if RUNS[name][0] == "most cities" else 3):
        mine.advance(12 if RUNS[name][1] == "eax" else 3)
        mine.migrate()


def _run(name: str, backend: Backend, ranks: World) -> str:
    """Return a digest of the last populations."""
    mine = made(name, backend, ranks)
    evolve(name, mine)
    mine.measure()
    assert name != "eax" or field(mine, "island")[:, 4].min() > 0, "no island has restarted"
    digests = sorted(each for rank in ranks.allgather(mine.digests()) for each in rank)
    return hashlib.sha256(repr(digests).encode()).hexdigest()


def _main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("--emulated", action="store_true")
    parser.add_argument("--replace", nargs=3, action="append", default=[])
    parser.add_argument("--crowded", action="store_true")
    args = parser.parse_args()
    if args.crowded:
        eax._CROWDED = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        kernels = folder / "kernels"
        if not args.emulated:
            checked_kernels(folder)
            eax.scratch_bytes = guarded_bytes
        elif args.replace:
            shutil.copytree(data_folder("kernels"), kernels)
        for file, old, new in args.replace:
            text = (kernels / file).read_text(encoding="utf-8")
            assert text.count(old) == 1, "the text to replace must occur once"
            (kernels / file).write_text(text.replace(old, new), encoding="utf-8")
            if new.startswith("PER_WALK = "):  # Python reserves memory for the walks
                eax._PER_WALK = int(new.removeprefix("PER_WALK = "))
        if args.replace or not args.emulated:
            source.data_folder = lambda _: kernels
        if not args.emulated:
            _run(args.name, choose("cpu", 2), World())
            return
        ranks = world()
        found = _run(args.name, choose("cpu", 1), ranks)
        if ranks.rank == 0:
            print("CPU", found)
        for order in ("descending", "random"):
            os.environ["EMULATED_ORDER"] = order
            # Without shared memory, few blocks do one job after another.
            shared_memory = 0 if order == "random" else None
            found = _run(args.name, EmulatedGpu(64, shared_memory), ranks)
            if ranks.rank == 0:
                print(order, found, flush=True)


if __name__ == "__main__":
    _main()
