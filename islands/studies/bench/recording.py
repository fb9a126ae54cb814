"""The cost of records: the same run, with and without a folder to which it writes."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import islands
from islands.cells.campaign import require_complete
from islands.parallel import World
from islands.progress.result import Result
from islands.studies.bench.base import BenchRequest, spread, table
from islands.tables import Row

CASES: tuple[tuple[str, str | None], ...] = (
    ("national/zi929", "xavier2019"),
    ("national/zi929", None),
    ("qaplib/tai60a", None),
)
"""Instances with a preset, or None for the default run."""
REPEATS = 7

TABLE = table("recording")


def measure(request: BenchRequest) -> Iterator[Row]:
    """Measure each case on each backend."""
    for backend in request.backends:
        cases = [_Case(name, preset, backend, request.threads) for name, preset in CASES]
        for case in request.heartbeat.over(cases, str):
            yield case.measured(request.seconds)


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
        trial, _ = self._timed(f"seconds={seconds}", None)
        stop = f"generations={max(1, trial.generations)}"
        plain, recorded = list[tuple[Result, float]](), list[tuple[Result, float]]()
        with TemporaryDirectory() as temporary:
            for i in range(REPEATS):
                turns = [(plain, None), (recorded, Path(temporary) / str(i))]
                for runs, folder in reversed(turns) if i % 2 else turns:
                    runs.append(self._timed(stop, folder))
            rows = recorded[0][0].trace().num_rows
        without, with_rows = ([result.seconds for result, _ in runs] for runs in (plain, recorded))
        more = median(rest for _, rest in recorded) - median(rest for _, rest in plain)
        return TABLE.row(
            device=trial.device,
            instance=trial.instance,
            settings=self.preset or "default",
            generations=max(1, trial.generations),
            rows=rows,
            seconds=median(without),
            recorded=median(with_rows),
            ratio=median(other / one for one, other in zip(without, with_rows, strict=True)),
            spread=spread(without),
            more_milliseconds=1e3 * more,
        )

    def _timed(self, stop: str, folder: Path | None) -> tuple[Result, float]:
        """Run, and return the result and the seconds before and after the search."""
        options = {**vars(self), "stop": stop, "out": folder}
        del options["instance"]
        given: Any = {name: value for name, value in options.items() if value is not None}
        began = perf_counter()
        result = require_complete(islands.solve(self.instance, world=World(), **given))
        return result, perf_counter() - began - result.seconds
