"""Improvement of given choices by the improvers of subsets, on a device and in Python."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from mkp_evaluation import packed, unpacked
from numpy_subset import Choice, NumpyKnapsack, NumpySearch
from problems_for_tests import knapsack

from islands.backends.arguments import Struct
from islands.backends.base import Backend
from islands.backends.source import Source
from islands.improvers import Improver, ImproverSettings, improvers_for
from islands.paths import data_folder
from islands.problems.mkp import Mkp, MkpSettings

KERNEL = os.path.relpath(
    Path(__file__).parents[1] / "improvers" / "near_subset.cuh", data_folder("kernels")
)

INFEASIBLE = 2 * 1234 + 1
"""A marked cost of an infeasible choice."""


def source_of(problem: Mkp, improver: Improver, **more: str) -> Source:
    """Return the program that improves choices."""
    macros = {
        "COSTS_MARKED": str(int(problem.marks)),
        "ISLANDS_IMPROVER": improver.header,
    }
    return Source(KERNEL, problem.defines() | improver.defines() | macros | more)


def improved(
    backend: Backend, problem: Mkp, choices: list[Choice], threads: int = 32, **search: Any
) -> tuple[list[Choice], list[int], list[int]]:
    """Return choices improved on the device, in its order of items, with costs and evaluations."""
    n, count = problem.size, len(choices)
    settings = ImproverSettings.build(search)
    improver = improvers_for("subset")[settings.name](settings, n)
    data = Struct(**{f"array{i}": backend.upload(a) for i, a in enumerate(problem.arrays())})
    source = source_of(problem, improver)
    room = backend.required_room(source, np.int32(n), data, improver.plan())
    program = backend.compile(source, backend.block(room, 16 * threads, count, fewest=threads))
    device = NumpyKnapsack(problem)
    start = np.array([device.cost(c) if device.fits(c) else INFEASIBLE for c in choices])
    chosen, cost = backend.upload(packed(choices)), backend.upload(start)
    calls = backend.zeros((count,), np.int64)
    arguments = (np.int32(count), np.int32(n), data, improver.plan(), chosen, cost, calls)
    backend.run([backend.call(program, "check_improve", *arguments, blocks=count, room=room)])
    numbers = [backend.download(each).tolist() for each in (cost, calls)]
    return unpacked(backend.download(chosen), n).tolist(), numbers[0], numbers[1]


def ways(n: int, m: int, way: str = "repair", **changes: Any) -> Mkp:
    """Return a knapsack with a treatment of infeasible choices."""
    return knapsack(n, m, **changes).adjusted(MkpSettings(infeasible=way))


def feasible(problem: Mkp, count: int) -> list[Choice]:
    """Return random feasible choices, from empty to full."""
    rng, device = np.random.default_rng(problem.size), NumpyKnapsack(problem)
    found = []
    for share in np.linspace(0, 1, count):
        chosen = [0] * problem.size
        for item in rng.permutation(problem.size)[: round(share * problem.size)]:
            more = [*chosen]
            more[item] = 1
            chosen = more if device.fits(more) else chosen
        found.append(chosen)
    return found


def assert_same(
    backend: Backend, problem: Mkp, search: NumpySearch, threads: int = 32, **changes: Any
) -> None:
    """Improve choices on a device and in Python, and require equal results."""
    choices = feasible(problem, 6)
    device = NumpyKnapsack(problem)
    seen, costs, calls = improved(backend, problem, choices, threads, **changes)
    for row, choice in enumerate(choices):
        wanted, tried = search.improve(choice, (7, 3, 5, row))
        assert seen[row] == wanted
        assert costs[row] == device.cost(wanted)
        assert calls[row] == tried
