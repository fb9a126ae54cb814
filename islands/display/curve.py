"""A sparkline of the best cost of a run, from the rows of its log."""

import math
import re
from collections.abc import Sequence

_BLOCKS = "▁▂▃▄▅▆▇█"
_NEAREST = 1e-3
"""Distances below this share of the largest one are drawn as the lowest block."""
_ROW = re.compile(
    r"[* ][C ] *\d+ +(?P<time>\S+) \| +(?P<cost>-?\d\S*) +(?P<gap>\S+) +\S+ \|", re.MULTILINE
)


def state_of_rows(text: str, width: int) -> str:
    """Return the last time, cost and gap in the rows of a log, and a sparkline of the costs, or "".

    The rows are those that `islands.display.screen.row` writes.
    """
    rows = list(_ROW.finditer(text))
    if not rows:
        return ""
    last = rows[-1]
    gap = "" if last["gap"] == "-" else f", gap {last['gap']}"
    drawn = curve([float(row["cost"]) for row in rows], width)
    return f"{last['time']}: best {last['cost']}{gap}  {drawn}"


def curve(costs: Sequence[float], width: int) -> str:
    """Return a sparkline of the distances from the last cost, on a logarithmic scale."""
    distances = [abs(cost - costs[-1]) for cost in costs]
    largest = max(distances)
    if largest == 0:
        return _BLOCKS[0] * min(width, len(costs))
    columns = min(width, len(costs))
    ends = [(column + 1) * len(costs) // columns - 1 for column in range(columns)]
    return "".join(_block(distances[end] / largest) for end in ends)


def _block(share: float) -> str:
    height = 1 - math.log(max(share, _NEAREST)) / math.log(_NEAREST)
    return _BLOCKS[round(height * (len(_BLOCKS) - 1))]
