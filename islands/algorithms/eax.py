"""A genetic algorithm with edge assembly crossover on tours (Nagata and Kobayashi 2013).

Individuals mate in a random cyclic order. Each pair makes children: the first parent with some of
its edges exchanged for those of the second, along AB-cycles, and the sub-tours that this leaves
merged. The child with the largest gain per loss of diversity replaces the first parent, together
with the next ones that change other parts of the tour.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.algorithms.base import NEIGHBOURS, Algorithm
from islands.algorithms.schedule import Concurrent, Launch, Schedule, Shape
from islands.backends.arguments import Struct
from islands.backends.base import Array, scratch_bytes
from islands.backends.header import Header
from islands.backends.source import Macros
from islands.backends.state import Field
from islands.errors import UsageError
from islands.settings import Settings, setting

if TYPE_CHECKING:
    from islands.problems.base import Problem

# The constants of kernels/eax and kernels/tours.
_MOST_CUTS, _MOST_CYCLES, _WORK, _SHARES = 320, 128, 6, 8
_TABLE, _RECORD = 2 * _MOST_CYCLES + 2, 1 + 3 * _MOST_CUTS
_GROUP, _CELLS, _MOST_DEGREE = 32, 256, 10
_STAGE = 8
_MOST_WALKS, _LONGEST_WALK = 8, 512
_VERTEX, _ALIGNED = 5, 32  # bytes of a vertex with its neighbours and bits; lost to alignment
_SMALLEST, _STEP = 512, 1 << 11  # size classes: the smallest, and the step above _NARROW
_FEWEST_FAST = 6144
"""Differing positions of a pair that block memory has room for: at least these."""
_GRAPH_BYTES = 73 << 10
"""Bytes of block memory for a graph and its walks: a third of that of a large GPU, which has also
room for what each block declares and for what the system takes."""
_MOST_ADDED, _MERGE_BYTES, _CANDIDATES = 48, 32, 4 * 8
_LIGHT, _HEAVY = 32, 256  # threads that make a child
_NARROW = 1 << 16
"""Number of cities up to which positions have 16 bits."""
_ENTROPY, _GREEDY = "entropy", "greedy"
_SHORT = {"first_tours": "greedy"}
_CURVE = "curve"
_FIRST_TOURS = ("greedy", _CURVE, "nearest", "random", "mixed")
_CELLS_OF_CURVE = (1 << 19) - 1
_UNIT = 1 << 24
_SPREAD = 256
_CPU = (0.003, 300, 30)
"""Seconds per individual until 1,000 cities converge, on two CPU threads; most and fewest
individuals."""
_GPU = (0.00008, 1000, 100)
_WIDE = 2.0
"""How much longer more than _NARROW cities take on a GPU, whose fast memory is too small then."""
_SHARE = 0.7
"""Share of the time limit in which a population should converge."""
_FEW_CITIES = 500
"""Up to this number, islands converge in a second, and eight of them rarely miss the optimum."""
_CLEARING = 8  # blocks that clear the frequencies of an island


@dataclass(frozen=True)
class EaxSettings(Settings):
    """The settings of edge assembly crossover."""

    children: int = setting(30, "children of a pair of parents", low=1, high=1000)
    selection: str = setting(
        _ENTROPY,
        "which child replaces its parent, with others that change other parts of it: the one with"
        " the largest gain per loss of entropy of the edges, or the shortest one (greedy)",
        choices=(_ENTROPY, _GREEDY),
    )
    first_tours: str = setting(
        "mixed",
        "how the first tours are made, before 2-opt and Or-opt: the shortest edges first (greedy),"
        " along a space-filling curve (curve; only coordinates), always to the nearest city"
        " (nearest), in random order, or greedy and nearest in turn (mixed)",
        choices=_FIRST_TOURS,
    )
    spread: float = setting(
        0.5,
        "first tours: largest share by which the lengths of edges are raised at random, so that"
        " tours differ",
        low=0,
        high=100,
        of="first_tours=mixed or greedy or nearest",
    )
    restart: bool = setting(
        True,
        "whether an island whose population has converged begins again, with new tours and the best"
        " one so far, which waits until the others have converged if two populations in a row found"
        " nothing better",
    )


class Eax(Algorithm):
    """Edge assembly crossover: single AB-cycles first, then blocks of them."""

    name: ClassVar[str] = "eax"
    header: ClassVar[Header] = Header("algorithms/eax.cuh")
    encodings: ClassVar[tuple[str, ...]] = ("permutation",)
    uses_neighbours: ClassVar[bool] = True
    fewest_threads: ClassVar[int] = 256
    improves: ClassVar[bool] = False
    is_uneven: ClassVar[bool] = True
    Settings: ClassVar[type[Settings]] = EaxSettings

    def __init__(
        self, settings: EaxSettings, population: int, encoding: str = "permutation"
    ) -> None:
        super().__init__(settings, population, encoding)
        self._pitch = 0

    @classmethod
    def defaults(
        cls, problem: Problem, seconds: float, on_gpu: Callable[[], bool]
    ) -> dict[str, Any]:
        """Return eight small islands for few cities, or one large one.

        Its size lets it converge within the time limit. If the time is too short for the smallest
        size, short first tours matter more than different ones.
        """
        size = problem.size
        if size <= _FEW_CITIES:
            return {"islands": 8, "population": 50}
        is_on_gpu = on_gpu()
        one, most, fewest = _GPU if is_on_gpu else _CPU
        each = one * max(1.0, size / 1000) ** 1.5
        if is_on_gpu and size > _NARROW:
            each *= _WIDE
        population = int(_SHARE * seconds / each) // 10 * 10
        if population < fewest:
            return {"islands": 1, "population": fewest, **_SHORT}
        return {"islands": 1, "population": min(most, population)}

    def defines(self) -> Macros:
        size = _size_class(self._pitch)
        return {
            "EAX_WIDE": str(int(self._pitch > _NARROW)),
            "EAX_DEGREE": str(_MOST_DEGREE),
            "EAX_FAST_VERTICES": str(_fast_vertices(size)),
            "EAX_GRAPH_BYTES": str(_graph_bytes(size)),
        }

    def require_problem(self, problem: Problem) -> None:
        if self.settings.first_tours == _CURVE and problem.places is None:
            raise UsageError(
                f"first_tours={_CURVE}: a space-filling curve needs coordinates, but"
                f" {problem.instance} has a matrix of distances. Choose greedy, nearest or random"
            )

    def fields(self, shape: Shape) -> dict[str, Field]:
        self._pitch = shape.pitch
        size, pitch, children = shape.population, shape.pitch, self.settings.children
        position = np.int32 if pitch > _NARROW else np.uint16
        return {
            "stage": Field((_STAGE,), np.int64),
            "position": Field((size, pitch), position, kind="derived"),
            "frequency": Field((_MOST_DEGREE * pitch,), np.int32, kind="derived"),
            "mates": Field((size, 2), np.int32, kind="scratch"),
            "work": Field((size, _WORK, pitch), np.int32, kind="scratch"),
            "cycles": Field((size, 2 * pitch), position, kind="scratch"),
            "table": Field((size, _TABLE), np.int32, kind="scratch"),
            "owner": Field((size, pitch), np.uint16, kind="scratch"),
            "outcome": Field((size, children, 2), np.int64, kind="scratch"),
            "promise": Field((size, children), np.float64, kind="scratch"),
            "record": Field((size, children, _RECORD), position, kind="scratch"),
        }

    def tables(self, problem: Problem) -> dict[str, NDArray[Any]]:
        self.require_problem(problem)
        frame = frame_of(problem)
        return {"entropy": entropy_of(self.population), "frame": frame}

    def plan(self, arrays: Mapping[str, Array]) -> Struct:
        settings = self.settings
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
            first_pair=np.int32(0),
            end_pair=np.int32(0),
        )

    def schedule(self, shape: Shape, *, outside: bool) -> Schedule:
        size, islands, pitch = shape.individuals, shape.islands, shape.pitch
        graph = _graph_bytes(_size_class(pitch))
        child, heavy = (_child_bytes(pitch, threads) for threads in (_LIGHT, _HEAVY))
        listed = scratch_bytes(2 * self.settings.children)

        def children_of(pairs: range) -> tuple[Launch, ...]:
            number, children = len(pairs), len(pairs) * self.settings.children
            own = (("first_pair", np.int32(pairs.start)), ("end_pair", np.int32(pairs.stop)))
            return (
                Launch("eax_pair", number, graph, 384, own),
                Launch("eax_child", children, child, _LIGHT, own),
                Launch("eax_heavy", number * _SHARES, heavy + listed, _HEAVY, own),
            )

        return Schedule(
            start=(Launch("eax_start", size, _search_bytes(pitch), 512),),
            generation=(
                Concurrent(tuple(map(children_of, _halves(size)))),
                Launch("eax_replace", size, scratch_bytes(*[4 * _MOST_CUTS] * 7, 16), 512),
                Launch("eax_restart", size, _search_bytes(pitch), 512),
                Launch("eax_stage", islands, 0, 256),
            ),
            adopt=(
                Launch("eax_clear", islands * _CLEARING, 0, 256),
                Launch("eax_adopt", size, 0, 256),
            ),
        )


_ARRAYS = (
    *("stage", "position", "frequency", "mates", "work", "cycles", "table", "owner"),
    *("outcome", "promise", "record"),
)


def _halves(pairs: int) -> list[range]:
    """Return the halves of all pairs: one makes children while the other still finds cycles."""
    half = (pairs + 1) // 2
    return [each for each in (range(half), range(half, pairs)) if each]


def entropy_of(population: int) -> NDArray[np.int32]:
    """Return the share of the entropy of an edge for each number of tours that have it."""
    shares = [number / population for number in range(1, population + 2)]
    return np.array([0, *(round(-_UNIT * each * math.log(each)) for each in shares)], np.int32)


def _size_class(pitch: int) -> int:
    """Return the size for which kernels are compiled: compiling takes seconds."""
    if pitch > _NARROW:
        return -(-pitch // _STEP) * _STEP
    return max(_SMALLEST, 1 << (pitch - 1).bit_length())


def _fast_vertices(pitch: int) -> int:
    """Return the size of graphs in block memory. First tours differ at half of the positions."""
    most = max(_FEWEST_FAST, (_GRAPH_BYTES - _comparison_or_walk(pitch)) // _VERTEX)
    return min(pitch, max(_FEWEST_FAST, pitch * 3 // 5), most) // 32 * 32


def _graph_bytes(pitch: int) -> int:
    """Return the bytes of block memory for the graph of a pair and its walks."""
    fast = _fast_vertices(pitch)
    all_walks = scratch_bytes(4 * fast, _MOST_WALKS * fast, *_walk_parts(_MOST_WALKS))
    return max(min(_GRAPH_BYTES, all_walks), _VERTEX * fast + _comparison_or_walk(pitch))


def _comparison_or_walk(pitch: int) -> int:
    """Return the bytes for the comparison of a pair, and then for a walk."""
    comparison = scratch_bytes(*[4 * -(-pitch // 32)] * 4)
    return max(comparison, scratch_bytes(*_walk_parts(1))) + _ALIGNED


def _walk_parts(walks: int) -> tuple[int, ...]:
    cycles = 4 * _MOST_CYCLES
    return (2 * walks * _LONGEST_WALK, cycles, cycles, 4 * _MOST_WALKS)


def frame_of(problem: Problem) -> NDArray[np.float64]:
    """Return the lowest coordinates of all cities, and the cells of a curve in a unit of length.

    Without coordinates, there is no curve, and these are zeros.
    """
    places = problem.places
    if places is None:
        return np.zeros(3)
    low = places.min(axis=0)
    side = float((places.max(axis=0) - low).max())
    return np.array([*low, _CELLS_OF_CURVE / side if side > 0 else 0.0])


def _search_bytes(n: int) -> int:
    groups = -(-n // _GROUP)
    return scratch_bytes(4 * groups, 24 * groups, 8 * _CELLS, 4)


def _child_bytes(pitch: int, threads: int) -> int:
    position = 4 if pitch > _NARROW else 2
    cuts = _MOST_CUTS
    positions, numbers = position * cuts, 2 * cuts
    parts = (positions, numbers, positions, 2 * numbers, numbers, 4 * cuts, 8 * cuts)
    return scratch_bytes(*parts, 2 * _MOST_ADDED, _MERGE_BYTES, _CANDIDATES * threads)
