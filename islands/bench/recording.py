"""What records cost: the same run, with and without a folder to which it writes.

The runs take turns, and each is the first of every second pair. Distances and distinct costs are
computed in both. `ratio` is that of the times of the search. `before and after` is how much
longer a run with a folder takes before and after its search, however long that is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

from islands.bench.base import BenchRequest, spread
from islands.errors import Suspended
from islands.parallel import InterruptedTogether, World
from islands.progress.result import Result
from islands.run.runner import run_requested
from islands.run.single import Output
from islands.tables import Column, Row, Table

CASES: tuple[tuple[str, str | None], ...] = (
    ("national/zi929", "xavier2019"),
    ("national/zi929", None),
    ("qaplib/tai60a", None),
)
"""Instances, and presets if not the default run."""
REPEATS = 7


TABLE = Table(
    "recording",
    (
        Column("device", "device", 17, "<.17"),
        Column("instance", "instance", 18, "<"),
        Column("settings", "settings", 10, "<"),
        Column("generations", "generations"),
        Column("rows", "rows", 6),
        Column("seconds", "seconds", form=".3f"),
        Column("recorded", "recorded", form=".3f"),
        Column("ratio", "ratio", 7, ".4f"),
        Column("spread", "spread", form=".1%"),
        Column("more_milliseconds", "before and after", form=lambda each: f"{each:.1f} ms"),
    ),
)
"""Rows are those of the trace, seconds the medians of searches without and with records.

The ratio is the median ratio of two searches, one after the other; the spread is (slowest -
fastest) / median of the searches without records.
"""


def measure(request: BenchRequest) -> Iterator[Row]:
    """Measure each case on each backend."""
    for backend in request.backends:
        cases = [_Case(name, preset, backend, request.threads) for name, preset in CASES]
        for case in request.heartbeat.over(cases, str):
            yield case.measured(request.seconds)


class _Timed(NamedTuple):
    """A run, and its seconds before and after the search."""

    result: Result
    rest: float


@dataclass(frozen=True)
class _Case:
    instance: str
    preset: str | None
    backend: str
    threads: int | None

    def __str__(self) -> str:
        return f"{self.instance} on {self.backend}"

    def measured(self, seconds: float) -> Row:
        """Return the row of searches of about `seconds` each."""
        generations = max(1, self._timed(f"seconds={seconds}", None).result.generations)
        stop = f"generations={generations}"
        with TemporaryDirectory() as place:
            folders = [Path(place) / str(i) for i in range(REPEATS)]
            pairs = [self._pair(stop, folder, i % 2 > 0) for i, folder in enumerate(folders)]
            rows = pairs[0][1].result.trace().num_rows
        without = [one.result.seconds for one, _ in pairs]
        more = median(other.rest for _, other in pairs) - median(one.rest for one, _ in pairs)
        result = pairs[0][1].result
        return TABLE.row(
            device=result.device,
            instance=result.instance,
            settings=self.preset or "default",
            generations=generations,
            rows=rows,
            seconds=median(without),
            recorded=median(other.result.seconds for _, other in pairs),
            ratio=median(other.result.seconds / one.result.seconds for one, other in pairs),
            spread=spread(without),
            more_milliseconds=1e3 * more,
        )

    def _pair(self, stop: str, folder: Path, recorded_first: bool) -> tuple[_Timed, _Timed]:
        """Return a run without and with records."""
        if recorded_first:
            recorded = self._timed(stop, folder)
            return self._timed(stop, None), recorded
        return self._timed(stop, None), self._timed(stop, folder)

    def _timed(self, stop: str, folder: Path | None) -> _Timed:
        options = {
            "instance": self.instance,
            "preset": self.preset,
            "stop": stop,
            "backend": self.backend,
            "threads": self.threads,
            "seed": 1,
        }
        given = {name: value for name, value in options.items() if value is not None}
        output = Output(writes=folder is not None, folder=folder)
        began = perf_counter()
        result = run_requested(given, None, World(), output)
        whole = perf_counter() - began
        if result.interrupted:
            raise InterruptedTogether
        if result.suspended:
            raise Suspended
        return _Timed(result, whole - result.seconds)
