"""Memory of a GPU block that the kernels of edge assembly crossover need, and their constants."""

from __future__ import annotations

from islands.backends.base import scratch_bytes

# The constants of kernels/eax and kernels/tours.
MOST_CUTS, MOST_CYCLES, WORK, SHARES = 320, 128, 6, 8
TABLE, RECORD = 2 * MOST_CYCLES + 2, 1 + 3 * MOST_CUTS
MOST_DEGREE = 10
LIGHT, HEAVY = 32, 256  # threads that make a child
_MOST_CHOSEN, _MOST_CHOSEN_CUTS = 32, 1024
_GROUP, _USUAL_CELLS, _LARGEST_CELL = 32, 256, 256
_MOST_WALKS, _LONGEST_WALK = 8, 512
_VERTEX, _ALIGNED = 5, 32  # bytes of a vertex with its neighbours and bits; lost to alignment
_MOST_ADDED, _MERGE_BYTES, _CANDIDATES = 48, 32, 4 * 8

NARROW = 1 << 16
"""Number of cities up to which positions have 16 bits."""
_SMALLEST, _STEP = 512, 1 << 11  # size classes: the smallest, and the step above NARROW
_FEWEST_FAST = 6144
"""Differing positions of a pair that block memory has room for: at least these."""
_GRAPH_BYTES = 73 << 10
"""Bytes of block memory for a graph and its walks: a third of that of a large GPU, which has also
room for what each block declares and for what the system takes."""


def size_class(pitch: int) -> int:
    """Return the size for which kernels are compiled: compiling takes seconds."""
    if pitch > NARROW:
        return -(-pitch // _STEP) * _STEP
    return max(_SMALLEST, 1 << (pitch - 1).bit_length())


def fast_vertices(pitch: int) -> int:
    """Return the size of graphs in block memory. First tours differ at half of the positions."""
    most = max(_FEWEST_FAST, (_GRAPH_BYTES - _comparison_or_walk(pitch)) // _VERTEX)
    return min(pitch, max(_FEWEST_FAST, pitch * 3 // 5), most) // 32 * 32


def graph_bytes(pitch: int) -> int:
    """Return the bytes for the graph of a pair and its walks."""
    fast = fast_vertices(pitch)
    all_walks = scratch_bytes(4 * fast, _MOST_WALKS * fast, *_walk_parts(_MOST_WALKS))
    return max(min(_GRAPH_BYTES, all_walks), _VERTEX * fast + _comparison_or_walk(pitch))


def _comparison_or_walk(pitch: int) -> int:
    """Return the bytes for the comparison of a pair, and then for a walk."""
    comparison = scratch_bytes(*[4 * -(-pitch // 32)] * 4)
    return max(comparison, scratch_bytes(*_walk_parts(1))) + _ALIGNED


def _walk_parts(walks: int) -> tuple[int, ...]:
    cycles = 4 * MOST_CYCLES
    return (2 * walks * _LONGEST_WALK, cycles, cycles, 4 * _MOST_WALKS)


def child_bytes(pitch: int, threads: int) -> int:
    """Return the bytes for making a child."""
    position = 4 if pitch > NARROW else 2
    cuts = MOST_CUTS
    positions, numbers = position * cuts, 2 * cuts
    parts = (positions, numbers, positions, 2 * numbers, numbers, 4 * cuts, 8 * cuts)
    return scratch_bytes(*parts, 2 * _MOST_ADDED, _MERGE_BYTES, _CANDIDATES * threads)


def promising_bytes(children: int) -> int:
    """Return the bytes for the list of the promising children of a pair."""
    return scratch_bytes(2 * children)


def choice_bytes(children: int) -> int:
    """Return the bytes for choosing among the children of a pair, and for writing the result."""
    cuts, chosen = 4 * _MOST_CHOSEN_CUTS, 4 * _MOST_CHOSEN
    in_order = 1 << (children - 1).bit_length()
    choice = (cuts, 2 * cuts, cuts, cuts, 8 * in_order, 4 * in_order, chosen, chosen + 4)
    return scratch_bytes(*choice, cuts, cuts + 4)


def chosen_bytes(pitch: int) -> int:
    """Return the bytes of a pair's chosen children, which ranks exchange."""
    position = 4 if pitch > NARROW else 2
    return 16 + (position + 2 * 2) * _MOST_CHOSEN_CUTS


def search_bytes(n: int) -> int:
    """Return the bytes for making and improving a first tour."""
    groups, cells = -(-n // _GROUP), max(_USUAL_CELLS, -(-n // _LARGEST_CELL))
    return scratch_bytes(4 * groups, 24 * groups, 8 * cells, 4)
