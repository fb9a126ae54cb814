"""A genetic algorithm with edge assembly crossover on tours (Nagata and Kobayashi 2013).

Individuals mate in a random cyclic order. A child is the first parent with some edges replaced by
edges of the second along AB-cycles; the resulting sub-tours are then merged. The child with the
largest gain per loss of diversity replaces the first parent, combined with the next best children
that change other parts of the tour.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.algorithms import messages
from islands.algorithms.base import (
    NEIGHBOURS,
    Algorithm,
    Concurrent,
    Launch,
    Schedule,
    Shape,
    Step,
    TeamExchanges,
)
from islands.backends.arguments import Null, Struct
from islands.backends.base import Array, scratch_bytes
from islands.backends.source import Header, Macros
from islands.backends.state import Field
from islands.settings import Settings, setting

if TYPE_CHECKING:
    from islands.problems.base import Problem


# Constants of kernels/eax and kernels/tours.
MOST_CUTS, MOST_CYCLES, WORK = 320, 128, 6
TABLE, RECORD = 2 * MOST_CYCLES + 2, 1 + 3 * MOST_CUTS
MOST_DEGREE = 10
LIGHT, HEAVY = 32, 256  # threads per child
_SHARES, _SHARES_OF_SMALL = 8, 2  # blocks for the heavy children of a pair, of full size or smaller
_MOST_CHOSEN, _MOST_CHOSEN_CUTS = 32, 1024
_GROUP, _USUAL_CELLS, _LARGEST_CELL = 32, 256, 256
_MOST_WALKS, _PER_WALK, _LONGEST_WALK = 8, 512, 512
_VERTEX, _ALIGNED = 5, 32  # bytes of a vertex with its neighbours and flags; alignment loss
_MOST_ADDED, _MERGE_BYTES, _CANDIDATES = 48, 32, 4 * 8

NARROW = 1 << 16
"""Number of cities up to which positions have 16 bits."""
MOST_INSIDE = 15 << 14
"""Maximum number of cities for which tours are improved and compared in the shared memory of a
large GPU."""
_SMALLEST, _STEP = 128, 1 << 11  # size classes: the smallest, and the step above NARROW
_FEWEST_FAST = 6144
"""Minimum number of differing positions of a pair that fit into shared memory."""
_GRAPH_BYTES = 73 << 10
"""Bytes of shared memory for a graph and its walks: a third of that of a large GPU, less what a
block declares statically and the system reserves."""


def size_class(pitch: int) -> int:
    """Return the size for which kernels are compiled; classes limit the number of compilations."""
    if pitch > NARROW:
        return -(-pitch // _STEP) * _STEP
    return max(_SMALLEST, 1 << (pitch - 1).bit_length())


def is_outside(pitch: int) -> bool:
    """Return whether tours exceed shared memory when they are improved and compared."""
    return size_class(pitch) > MOST_INSIDE


def fast_vertices(pitch: int) -> int:
    """Return the maximum size of a graph in shared memory; half the cities differ at first."""
    most = max(_FEWEST_FAST, (_GRAPH_BYTES - _comparison_or_walk(pitch)) // _VERTEX)
    return min(pitch, max(_FEWEST_FAST, pitch * 3 // 5), most) // 32 * 32


def graph_bytes(pitch: int) -> int:
    """Return the bytes for the graph of a pair and its walks."""
    fast = fast_vertices(pitch)
    # A walk in a graph outside shared memory uses wider numbers, and needs the memory of two.
    walks = max(2, min(_MOST_WALKS, pitch // _PER_WALK))
    all_walks = scratch_bytes(4 * fast, walks * fast, *_walk_parts(walks)) + _ALIGNED
    return max(min(_GRAPH_BYTES, all_walks), _VERTEX * fast + _comparison_or_walk(pitch))


def _comparison_or_walk(pitch: int) -> int:
    """Return the bytes for the comparison of a pair, which a walk reuses later."""
    comparison = 0 if is_outside(pitch) else scratch_bytes(*[4 * -(-pitch // 32)] * 4)
    return max(comparison, scratch_bytes(*_walk_parts(1))) + _ALIGNED


def _walk_parts(walks: int) -> tuple[int, ...]:
    cycles = 4 * MOST_CYCLES
    return (2 * walks * _LONGEST_WALK, cycles, cycles, 4 * _MOST_WALKS)


def child_bytes(pitch: int, threads: int) -> int:
    """Return the bytes for creating a child."""
    position = 4 if pitch > NARROW else 2
    cuts = MOST_CUTS
    positions, numbers = position * cuts, 2 * cuts
    parts = (positions, numbers, positions, 2 * numbers, numbers, 4 * cuts, 8 * cuts)
    return scratch_bytes(*parts, 2 * _MOST_ADDED, _MERGE_BYTES, _CANDIDATES * threads)


def choice_bytes(children: int, pitch: int) -> int:
    """Return the bytes for choosing among the children of a pair and writing the result."""
    cuts, chosen = 4 * min(pitch, _MOST_CHOSEN_CUTS), 4 * _MOST_CHOSEN
    in_order = 1 << (children - 1).bit_length()
    choice = (cuts, 2 * cuts, cuts, cuts, 8 * in_order, 4 * in_order, chosen, chosen + 4)
    return scratch_bytes(*choice, cuts, cuts + 4)


def chosen_bytes(pitch: int) -> int:
    """Return the bytes of a pair's chosen children, which ranks exchange."""
    position = 4 if pitch > NARROW else 2
    return 16 + (position + 2 * 2) * _MOST_CHOSEN_CUTS


def search_bytes(n: int) -> int:
    """Return the shared memory for creating and improving a first tour, in bytes."""
    if is_outside(n):
        return 0
    groups, cells = -(-n // _GROUP), max(_USUAL_CELLS, -(-n // _LARGEST_CELL))
    return scratch_bytes(4 * groups, 24 * groups, 8 * cells, 4)


_STAGE = 8  # number of values in a Stage of kernels/eax
_ENTROPY, _GREEDY = "entropy", "greedy"
_CURVE = "curve"
_DONE = 2  # the phase of an island that has converged
_ASSIGNMENT = "assignment"
_FIRST_TOURS = ("greedy", _CURVE, "nearest", "random", "mixed", _ASSIGNMENT)
_CELLS_OF_CURVE = (1 << 19) - 1
_UNIT = 1 << 24
_SPREAD = 256
FEW_CITIES = 500
"""Up to this number of cities, islands converge within a second, and eight of them rarely miss
the optimum."""
_STILL = 5
"""Generations without a better tour that count as convergence for few cities. With 12 instead of 5,
one more of 200 instances with 200 cities reached the best length of all runs."""
_CROWDED = 512
"""Number of blocks of the default size that fit on a large GPU. With more blocks, smaller ones are
faster for few cities: blocks of one warp solved 1,000 instances of 100 cities in 40 % of the time
(H200)."""
_CLEARING = 8  # blocks that clear the frequencies of an island


@dataclass(frozen=True)
class EaxSettings(Settings):
    """The settings of edge assembly crossover."""

    children: int = setting(
        30,
        "children of a pair of parents; the default is larger on a GPU and with many cities",
        low=1,
        high=1000,
    )
    selection: str = setting(
        _ENTROPY,
        "which child replaces its parent, with others that change other parts of it: the one with"
        " the largest gain per loss of entropy of the edges, or the shortest one (greedy)",
        choices=(_ENTROPY, _GREEDY),
    )
    first_tours: str = setting(
        "mixed",
        "how the first tours are built, before 2-opt and Or-opt: the shortest edges first (greedy),"
        " along a space-filling curve (curve; only coordinates), always to the nearest city"
        " (nearest), in random order, from an optimal assignment (assignment; only directed tours),"
        " or greedy and nearest alternately (mixed; greedy and assignment for directed tours of up"
        " to 2,000 cities)",
        choices=_FIRST_TOURS,
    )
    spread: float = setting(
        0.5,
        "largest share by which edge lengths are increased at random for the first tours, so that"
        " these differ",
        low=0,
        high=100,
        of="first_tours=mixed or greedy or nearest or assignment",
    )
    restart: bool = setting(
        True,
        "whether a converged island restarts with new tours and its best one so far. If two"
        " populations in a row found nothing better, the best tour does not mate until the new ones"
        " have converged",
    )


class Eax(Algorithm):
    """Edge assembly crossover: single AB-cycles first, then blocks of them."""

    name: ClassVar[str] = "eax"
    header: ClassVar[Header] = Header("algorithms/eax.cuh")
    encodings: ClassVar[tuple[str, ...]] = ("permutation", "doubled")
    uses_neighbours: ClassVar[bool] = True
    fewest_threads: ClassVar[int] = 256
    slow_to_compile: ClassVar[tuple[str, ...]] = (
        *("eax_start", "eax_heavy", "eax_child", "eax_restart"),
        *("eax_replace", "eax_pair"),
    )
    improves: ClassVar[bool] = False
    keeps_quota: bool = False
    may_begin_partly: ClassVar[bool] = False
    varies_in_length: ClassVar[bool] = True
    grows_by_islands: ClassVar[bool] = False
    Settings: ClassVar[type[Settings]] = EaxSettings

    @classmethod
    def reads(cls, problem: Problem, encoding: str) -> bool:
        # The nodes of a doubled city make directed lengths symmetric.
        is_directed = problem.near is not None and problem.near.is_directed
        return (encoding == "doubled") == is_directed

    @classmethod
    def standstill(cls, settings: EaxSettings, population: int, size: int, *, is_warm: bool) -> int:
        # A given tour remains the best one while its edges spread through the population.
        return population if is_warm or size > FEW_CITIES else _STILL

    def defines(self) -> Macros:
        return {"EAX_WIDE": str(int(self._pitch > NARROW))}

    def prepare(self, problem: Problem, shape: Shape) -> None:
        self._pitch = shape.pitch

    def require_problem(self, problem: Problem) -> None:
        near = problem.near
        if self.settings.first_tours == _ASSIGNMENT and not (near is not None and near.is_directed):
            raise messages.assignment_of_symmetric_tours(instance=problem.instance)
        if self.settings.first_tours == _CURVE and _places(problem) is None:
            raise messages.curve_without_coordinates(instance=problem.instance)

    def fields(self, shape: Shape) -> dict[str, Field]:
        size, pitch, children = shape.population, shape.pitch, self.settings.children
        position = np.int32 if pitch > NARROW else np.uint16
        fields = {
            "stage": Field((_STAGE,), np.int64),
            "position": Field((size, pitch), position, kind="derived"),
            "frequency": Field((MOST_DEGREE * pitch,), np.int32, kind="derived"),
            "mates": Field((size, 2), np.int32, kind="scratch", cleared=False),
            "work": Field((size, WORK, pitch), np.int32, kind="scratch", cleared=False),
            "cycles": Field((size, 2 * pitch), position, kind="scratch", cleared=False),
            "table": Field((size, TABLE), np.int32, kind="scratch", cleared=False),
            "owner": Field((size, pitch), np.uint16, kind="scratch", cleared=False),
            "outcome": Field((size, children, 2), np.int64, kind="scratch", cleared=False),
            "promise": Field((size, children), np.float64, kind="scratch", cleared=False),
            "record": Field((size, children, RECORD), position, kind="scratch", cleared=False),
        }
        if shape.made is not None:  # ranks exchange the chosen children
            fields["chosen"] = Field((size, chosen_bytes(pitch)), np.uint8, kind="scratch")
        return fields

    def tables(self, problem: Problem) -> dict[str, NDArray[Any]]:
        self.require_problem(problem)
        return {"entropy": entropy_of(self.population), "frame": frame_of(problem)}

    def plan(self, arrays: Mapping[str, Array]) -> Struct:
        settings, size = self.settings, size_class(self._pitch)
        return Struct(
            near=arrays[NEIGHBOURS],
            children=np.int32(settings.children),
            by_entropy=np.int32(settings.selection == _ENTROPY),
            spread=np.int32(round(_SPREAD * settings.spread)),
            first_tours=np.int32(_FIRST_TOURS.index(settings.first_tours)),
            restarts=np.int32(settings.restart),
            frame=arrays["frame"],
            entropy=arrays["entropy"],
            **{name: arrays[name] for name in _ARRAYS},
            chosen=arrays.get("chosen", Null(np.uint8)),
            first_pair=np.int32(0),
            end_pair=np.int32(0),
            graph_bytes=np.int32(graph_bytes(size)),
            fast_vertices=np.int32(fast_vertices(size)),
            shares=np.int32(_SHARES),
            is_outside=np.int32(is_outside(size)),
            shared=np.int32(0),
        )

    def are_renewed(self, read: Callable[[str], NDArray[Any]]) -> list[bool]:
        restarts = self.settings.restart
        return [restarts and phase == _DONE for phase in read("stage")[:, 0].tolist()]

    @classmethod
    def shares_all(cls, problem: Problem) -> bool:
        # Islands restart at different times, and their first generations are the slowest.
        return problem.size > FEW_CITIES

    def schedule(self, shape: Shape, *, outside: bool) -> Schedule:
        size, islands, pitch = shape.individuals, shape.islands, shape.pitch
        graph = graph_bytes(size_class(pitch))
        is_crowded = shape.jobs > _CROWDED
        threads = partial(_threads_of, pitch) if is_crowded else int
        most = threads(HEAVY)
        shares = _SHARES if most == HEAVY else _SHARES_OF_SMALL
        shared_by = ("shares", np.int32(shares))
        child, heavy = (child_bytes(pitch, number) for number in (LIGHT, most))
        listed = scratch_bytes(2 * self.settings.children)  # promising children of a pair

        def members_of(pairs: range) -> tuple[tuple[str, Any], ...]:
            return (("first_pair", np.int32(pairs.start)), ("end_pair", np.int32(pairs.stop)))

        def children_of(pairs: range) -> tuple[Launch, ...]:
            number, plan = islands * len(pairs), members_of(pairs)
            children = number * self.settings.children
            return (
                Launch("eax_pair", number, graph, threads(384), plan),
                Launch("eax_child", children, child, LIGHT, plan),
                Launch("eax_heavy", number * shares, heavy + listed, most, (*plan, shared_by)),
            )

        choice, search = choice_bytes(self.settings.children, pitch), search_bytes(pitch)
        replace, stage = (
            Launch("eax_replace", size, choice, threads(512)),
            Launch("eax_stage", islands, 0, 256),
        )
        start, restart = (
            Launch(name, shape.jobs, search, threads(512)) for name in ("eax_start", "eax_restart")
        )
        children = Concurrent(tuple(map(children_of, _halves(shape.slots))))
        generation: tuple[Step, ...] = (children, replace, restart, stage)
        if shape.made is not None:
            # Tours are large, so ranks exchange only the cuts of children and build all tours.
            shared = (("shared", np.int32(1)),)
            generation = (
                children,
                Launch("eax_choose", shape.jobs, choice, 512, members_of(shape.slots)),
                dataclasses.replace(restart, plan=shared),
                TeamExchanges(("chosen",), renewed=_OF_TOURS),
                dataclasses.replace(replace, plan=shared),
                Launch("eax_recount", size, 0, 256),
                stage,
            )
        return Schedule(
            start=(Launch("eax_begin", islands, 0, 32), start, TeamExchanges(_OF_TOURS)),
            generation=generation,
            adopt=(
                Launch("eax_clear", islands * _CLEARING, 0, 256),
                Launch("eax_adopt", size, 0, 256),
            ),
        )


_ARRAYS = (
    *("stage", "position", "frequency", "mates", "work", "cycles", "table", "owner"),
    *("outcome", "promise", "record"),
)


_OF_TOURS = ("genes", "cost", "calls")
"""Fields of new tours that ranks exchange."""


def _threads_of(pitch: int, most: int) -> int:
    """Return the threads per block for this number of cities: about one per eight cities."""
    return min(most, max(LIGHT, 1 << (pitch // 8 - 1).bit_length()))


def _halves(pairs: range) -> list[range]:
    """Return the two halves of the pairs: one creates children while the other finds cycles."""
    middle = pairs.start + (len(pairs) + 1) // 2
    return [half for half in (range(pairs.start, middle), range(middle, pairs.stop)) if half]


@lru_cache(maxsize=64)
def entropy_of(population: int) -> NDArray[np.int32]:
    """Return the entropy contribution of an edge by the number of tours that contain it."""
    shares = [number / population for number in range(1, population + 2)]
    return np.array([0, *(round(-_UNIT * share * math.log(share)) for share in shares)], np.int32)


def _places(problem: Problem) -> NDArray[np.float64] | None:
    return None if problem.near is None else problem.near.places


def frame_of(problem: Problem) -> NDArray[np.float64]:
    """Return the minimum coordinates of the cities, and the cells of the curve per unit of length.

    All are zero for problems without coordinates.
    """
    places = _places(problem)
    if places is None:
        return np.zeros(3)
    low = np.minimum.reduce(places)
    side = max((np.maximum.reduce(places) - low).tolist())
    return np.array([*low, _CELLS_OF_CURVE / side if side > 0 else 0.0])
