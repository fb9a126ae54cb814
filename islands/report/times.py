"""The time of a run by phase and by rank."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from islands import text
from islands.report.history import History
from islands.report.page import paragraph, table
from islands.report.recorded import RecordedRun


def times(run: RecordedRun, history: History) -> Iterator[str]:
    """Yield tables of the phases and the ranks."""
    if run.result is not None:
        yield table(["phase", "seconds"], _phases(run))
        yield paragraph(
            "Messages: the time in which migrants travel between ranks, which may overlap with"
            " generations.",
            "soft",
        )
    yield table(
        ["rank", "islands", "evaluations", "evaluations/s", "migrants", "messages"],
        _ranks(run, history),
    )


def _phases(run: RecordedRun) -> Iterator[tuple[str, str]]:
    result = run.result
    assert result is not None
    yield "compilation of kernels", f"{result.compile_seconds:.2f}"
    yield "generations", f"{result.seconds:.2f}"
    if result.given_up_seconds:
        yield "of which abandoned at the end", f"{result.given_up_seconds:.2f}"


def _ranks(run: RecordedRun, history: History) -> Iterator[tuple[str, ...]]:
    trace, seconds = run.trace, float(history.seconds[-1])
    assert trace is not None
    generation, rank = (np.asarray(trace.column(each)) for each in ("generation", "rank"))
    last = np.asarray(trace.column("evaluations")) * (generation == history.generations[-1])
    for each in np.unique(history.ranks):
        done = int(last[rank == each].sum())
        yield (
            str(each),
            str(int((history.ranks == each).sum())),
            text.count(done),
            text.count(done / seconds) if seconds > 0 else "-",
            *_messages(run, int(each)),
        )


def _messages(run: RecordedRun, rank: int) -> tuple[str, str]:
    """Return the number of migrants of a rank, and the time of their messages."""
    if run.migrations is None:
        return "-", "-"
    mine = np.asarray(run.migrations.column("rank")) == rank
    spent = np.asarray(run.migrations.column("microseconds"), np.float64)[mine]
    epochs = np.asarray(run.migrations.column("epoch"))[mine]
    if not spent.size:
        return "0", "-"
    # Migrants of one migration travel at the same time: the slowest counts.
    _, place = np.unique(epochs, return_inverse=True)
    slowest = np.zeros(place.max() + 1)
    np.fmax.at(slowest, place, spent)
    return f"{spent.size:,}", f"{slowest.sum() / 1e6:.3f} s"
