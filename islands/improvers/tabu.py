"""Robust taboo search (Taillard 1991): the best exchange that is allowed, even if it is worse.

What each exchange would change is stored where the problem's kernels can keep it up to date.
"""

from __future__ import annotations

from typing import ClassVar

from islands.backends.base import shelves
from islands.backends.header import Header
from islands.backends.source import Macros
from islands.errors import UsageError
from islands.improvers.base import Improver, ImproverSettings

_STEPS_A_THING = 20
_MOST_EVALUATIONS = 1 << 27  # of a search that is not told its steps: a tenth of a second on a CPU
_FEWEST_STEPS = 100
_MOST_STEPS = 50_000  # kernels count them in sixteen bits
_MOST_THINGS = 32_768  # a run of pairs is told by 16 bits each for its row and its column
_SHORTEST_RUN, _RUN = 4, 16  # RUN of kernels/core/triangle.cuh on a GPU and on the CPU
_TENURES = 128
_STEP_BYTES, _INDEX_BYTES = 2, 4
_WIDEST = {"QAP_A": "int", "QAP_B": "int", "QAP_DELTA": "long long", "QAP_SYMMETRIC": "0"}
_BYTES = {"unsigned char": 1, "unsigned short": 2, "int": 4, "long long": 8}


class Tabu(Improver):
    """Takes `steps` exchanges and leaves the best order met."""

    name: ClassVar[str] = "tabu"
    header: ClassVar[Header] = Header("improvers/tabu.cuh")
    solution_kinds: ClassVar[tuple[str, ...]] = ("order",)

    def __init__(self, settings: ImproverSettings, size: int, macros: Macros | None = None) -> None:
        """Take the problem's macros, which tell the room; without them, it is the most there is."""
        super().__init__(settings, size)
        self._macros = _WIDEST if macros is None else macros
        if size > _MOST_THINGS:
            raise UsageError(
                f"improver=tabu: {size} things have too many pairs, at most {_MOST_THINGS} may be"
                " there. Choose improver=two_opt"
            )

    def steps(self) -> int:
        """Return how many exchanges it makes."""
        affordable = max(_FEWEST_STEPS, _MOST_EVALUATIONS // max(1, self.items()))
        return self.settings.steps or min(_STEPS_A_THING * self.size, affordable)

    def defines(self) -> Macros:
        return {"TABU_ASPIRATION": str(int(self.settings.aspiration > 0))}

    def items(self) -> int:
        return self.size * (self.size - 1) // 2

    def room(self) -> int:
        """Return what either kind of runs takes at most."""
        n, entries = self.size, _entries(self.size)
        steps_of_pairs = [_STEP_BYTES * entries] * (1 + (self.settings.aspiration > 0))
        return shelves(
            _INDEX_BYTES * n,
            _INDEX_BYTES * entries // _SHORTEST_RUN,
            n * _row_bytes(n, _STEP_BYTES),
            *steps_of_pairs,
            _STEP_BYTES * _TENURES,
            *self._stored(entries),
            _INDEX_BYTES * n,
        )

    def _stored(self, entries: int) -> list[int]:
        """Return the parts of `SwapDeltas` in kernels/problems/qap_swaps.cuh."""
        if "QAP_DELTA" not in self._macros:
            return []
        n = self.size
        a, b, delta = (_BYTES[str(self._macros[name])] for name in ("QAP_A", "QAP_B", "QAP_DELTA"))
        gaps = 2 if self._macros["QAP_SYMMETRIC"] == "1" else 4
        matrices = [n * _row_bytes(n, a), n * _row_bytes(n, b)]
        return [delta * entries, *matrices, *[delta * (n + _RUN - 1)] * gaps]


def _entries(n: int) -> int:
    """Return the entries of the pairs of n things, in rows of whole runs of the longer kind."""
    across = -(-n // _RUN)
    return _RUN * sum(across - (i + 1) // _RUN for i in range(n - 1))


def _row_bytes(n: int, item: int) -> int:
    """Return the bytes of a row of a matrix, an odd number of words."""
    return 4 * (-(-n * item // 4) | 1)
