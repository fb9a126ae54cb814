"""The time of a run by phase and by rank."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from islands import text
from islands.progress.usage import PHASES, RANKS
from islands.report.figure import COLOURS, WIDTH, inline, new_figure, whole_ticks
from islands.report.history import History
from islands.report.page import figure, figures, paragraph, table
from islands.report.recorded import RecordedRun

_TALLEST = 6.0
_HOST = (
    "Times of the host: it waits for a GPU only when it needs a result, so that a phase with such a"
    " result includes the generations before it."
)


def times(run: RecordedRun, history: History) -> Iterator[str]:
    """Yield tables of the phases and the ranks."""
    if run.result is not None:
        yield table(["phase", "seconds"], _phases(run))
        yield from _by_rank(run.result.rank_seconds)
    yield table(
        ["rank", "islands", "evaluations", "evaluations/s", "migrants", "messages"],
        _ranks(run, history),
    )
    yield paragraph(
        "Messages: the time in which migrants travel between ranks, which may overlap with"
        " generations.",
        "soft",
    )


def _by_rank(ranks: Sequence[Mapping[str, float]]) -> Iterator[str]:
    """Yield a picture and a table of the phases of each rank, without those that no rank has."""
    names = [name for name in PHASES if any(each.get(name) for each in ranks)]
    phases = [name for name in names if name != RANKS or len(ranks) > 1]
    if not phases:
        return
    words = "Seconds of each rank by phase since the last start"
    rows = [
        (number, *(f"{each.get(name, 0.0):.3f}" for name in phases))
        for number, each in enumerate(ranks)
    ]
    numbers = table(["rank", *phases], rows)
    yield figures(figure(inline(draw_phases(ranks, phases), words), f"{words}. {_HOST}", numbers))


def draw_phases(ranks: Sequence[Mapping[str, float]], phases: Sequence[str]) -> Any:
    """Return a figure with a bar for each rank, divided into phases."""
    made = new_figure(WIDTH, min(_TALLEST, 0.9 + 0.16 * len(phases) + 0.22 * len(ranks)))
    axes = made.add_subplot()
    places, ends = np.arange(len(ranks)), np.zeros(len(ranks))
    for number, name in enumerate(phases):
        seconds = np.array([each.get(name, 0.0) for each in ranks])
        axes.barh(places, seconds, left=ends, label=name, color=COLOURS[number % len(COLOURS)])
        ends += seconds
    axes.yaxis.set_major_locator(whole_ticks(12))
    axes.set(xlabel="seconds", ylabel="rank", ylim=(len(ranks) - 0.4, -0.6))
    axes.grid(visible=False, axis="y")
    made.legend(loc="outside upper left", ncols=3)
    return made


def _phases(run: RecordedRun) -> Iterator[tuple[str, str]]:
    result = run.result
    assert result is not None
    yield "compilation of kernels", f"{result.compile_seconds:.2f}"
    yield "all generations", f"{result.seconds:.2f}"
    if result.abandoned_seconds:
        yield "of which abandoned at the end", f"{result.abandoned_seconds:.2f}"


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
