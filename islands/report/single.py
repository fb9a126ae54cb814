"""The page of one run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from islands import text
from islands.errors import IslandsError
from islands.progress.result import Result
from islands.progress.usage import PHASES, RANKS
from islands.record.folder import SETTINGS
from islands.report.course import AXES, draw_convergence, draw_lineage, draw_matrix, words_of
from islands.report.figure import COLOURS, WIDTH, inline, new_figure, whole_ticks
from islands.report.history import Arrivals, History, Step, lineage
from islands.report.page import Page, facts, figure, figures, folded, note, paragraph, table
from islands.report.recorded import COLONY, RecordedRun, flat, without_migrants, without_rows
from islands.report.solution import draw_solution
from islands.statistics import moments
from islands.text import counted

_ROWS, _LINKS, _STEPS, _LISTED = 12, 20, 60, 200
_STOPS = 6
"""Islands at the start and at the end of a lineage that a sentence names."""


def page_of(run: RecordedRun) -> Page:
    """Return the page of a run, finished or not."""
    page = Page(run.title)
    page.add(facts(_summary(run)))
    if run.result is None:
        page.add(note("This run is not finished: the page shows its rows so far."))
    history = run.history
    if history is None:
        page.add(note(_sentence(without_rows(run))))
    else:
        page.section("Course", *_course(run, history))
    page.section("Solution", *_solution(run))
    if history is not None:
        page.section("Migration", *_migration(run, history))
        page.section("Time", *times(run, history))
    page.section("Origin", origin(run))
    page.section("Settings", settings(run))
    page.add(*(note(each) for each in run.notes))
    return page


def _summary(run: RecordedRun) -> Iterator[tuple[str, object]]:
    result, history = run.result, run.history
    if result is not None:
        yield "best", "no feasible solution" if result.cost is None else f"{result.cost:,}"
        yield "best known", None if result.best_known is None else f"{result.best_known:,}"
        yield "gap", None if run.gap is None else text.gap(run.gap)
        yield "lower bound", result.bound_words() or None
        if result.cost is not None:
            yield "found", f"{result.place()}, generation {result.best_generation:,}"
        yield "generations", f"{result.generations:,}"
        yield "evaluations", text.count(result.evaluations)
        yield "time", f"{result.seconds:.1f} s"
        yield "islands", f"{result.islands} x {result.population}"
        yield "ranks", result.ranks
        yield "device", result.device
        yield "energy of GPUs", None if result.joules is None else f"{result.joules:,.0f} J"
        yield "stopped", result.reason
        yield "checked by", result.checked
        yield "digest", result.digest[:12]
    elif history is not None:
        yield "best so far", "no feasible solution" if run.best is None else f"{run.best:,.10g}"
        yield "best known", None if run.best_known is None else f"{run.best_known:,}"
        yield "gap", None if run.gap is None else text.gap(run.gap)
        yield "generation", f"{history.generations[-1]:,}"
        yield "evaluations", text.count(history.evaluations[-1])
        yield "time", f"{history.seconds[-1]:.1f} s"
        yield "islands", len(history.islands)
        yield "ranks", len(np.unique(history.ranks))


def _course(run: RecordedRun, history: History) -> Iterator[str]:
    word = run.problem.cost_word if run.problem is not None else "cost"
    yield paragraph(f"{words_of(history)} {_DIVERSITY}", "soft")
    parts = []
    for over in AXES:
        words = f"Best and mean {word} and diversity of the islands over {over}"
        parts.append(
            figure(inline(draw_convergence(history, over, best_known=run.best_known), words), words)
        )
    yield figures(*parts, kind="three")
    yield folded("Numbers", _course_table(history))


_DIVERSITY = (
    "Distance: the mean distance of genomes in a sample of an island, 1 if they differ everywhere;"
    " of tours, the share of edges that only one of them has. Distinct costs: their"
    " number as a share of the population; equal solutions have the same cost."
)


def _course_table(history: History) -> str:
    few, best = history.thinned(_ROWS), history.thinned(_ROWS).overall()
    rows = [
        (
            f"{few.generations[i]:,}",
            f"{few.seconds[i]:.2f}",
            text.count(few.evaluations[i]),
            _number(best[i]),
            _number(_mean(few.mean[i])),
            f"{_mean(few.distance[i]):.3f}",
            f"{100 * _mean(few.distinct[i]):.1f}",
        )
        for i in range(len(few))
    ]
    header = ["generation", "seconds", "evaluations", "best", "mean", "distance", "distinct %"]
    return table(header, rows)


def _mean(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return moments.mean(known) if known.size else float("nan")


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:,.10g}"


def _solution(run: RecordedRun) -> Iterator[str]:
    result = run.result
    if result is None or result.solution is None:
        return
    problem = run.problem
    try:
        picture, words = draw_solution(problem, result.solution_kind, result.solution)
    except IslandsError as error:
        run.notes.append(str(error))
        picture, words = draw_solution(None, result.solution_kind, result.solution)
    yield figure(inline(picture, words), words)
    items = [
        f"{each:.6g}" if isinstance(each, float) else str(each) for each in result.items() or []
    ]
    listed = " ".join(items[:_LISTED])
    more = "" if len(items) <= _LISTED else f" ... ({len(items)} in all, see solution.parquet)"
    yield folded("Items", paragraph(f"{listed}{more}"))


def _migration(run: RecordedRun, history: History) -> Iterator[str]:
    if run.migrations is None or len(run.migrations) == 0:
        yield paragraph(_sentence(without_migrants(run)), "soft")
        return
    arrivals = Arrivals.of(run.migrations, history)
    island, generation = found_by(run, history)
    steps = lineage(arrivals, island, generation)
    accepted, won = int(arrivals.accepted.sum()), int((arrivals.gain > 0).sum())
    yield paragraph(
        f"{counted(len(arrivals), 'migrant', form=',')} arrived, {accepted:,} were accepted, and"
        f" {won:,} became the best of their island. Of the migrants that arrive at an island in one"
        " migration, only the best one counts as such."
    )
    yield paragraph(_lineage_words(steps, island, history))
    lines = draw_lineage(arrivals, history, steps, island, generation)
    words = (
        "The lineage of the best solution: each step is a migrant that became the best of its"
        " island. Grey: all such migrants. Dotted lines separate ranks."
    )
    cells = "Migrants from each island to each other one: accepted, and became the best there"
    yield figures(
        figure(inline(lines, words), words, _step_table(steps, history)),
        figure(
            inline(draw_matrix(arrivals, history.islands), cells),
            f"{cells}.",
            _link_table(arrivals, history),
        ),
    )


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def found_by(run: RecordedRun, history: History) -> tuple[int, int]:
    """Return the island that found the best solution, and the generation."""
    result = run.result
    if result is not None and result.island is not None:
        return result.island, result.best_generation
    worst = -np.inf if history.maximise else np.inf
    best = np.where(np.isnan(history.best), worst, history.best)
    sign = -1 if history.maximise else 1
    row, column = np.unravel_index(np.argmin(sign * best), best.shape)
    return int(history.islands[column]), int(history.generations[row])


def _lineage_words(steps: list[Step], island: int, history: History) -> str:
    """Return the lineage of the best solution in a sentence."""
    rank = dict(zip(history.islands.tolist(), history.ranks.tolist(), strict=True))
    if not steps:
        return (
            f"No migrant led to the best: island {island} (rank {rank.get(island, '?')}) found it."
        )
    way = [steps[0].source, *(each.target for each in steps)]
    ranks = len({rank.get(each) for each in way})
    stops = [f"{each} (rank {rank.get(each, '?')})" for each in way]
    if len(stops) > 2 * _STOPS:
        left_out = counted(len(stops) - 2 * _STOPS, "other")
        stops = [*stops[:_STOPS], left_out, *stops[-_STOPS:]]
    return (
        f"The best came by {counted(len(steps), 'migrant')} over"
        f" {counted(len(set(way)), 'island')} on {counted(ranks, 'rank')}:"
        f" {', '.join(stops)}."
    )


def _step_table(steps: list[Step], history: History) -> str:
    rank = dict(zip(history.islands.tolist(), history.ranks.tolist(), strict=True))
    rows = [
        (
            f"{each.generation:,}",
            f"{each.source} (rank {rank.get(each.source, '?')})",
            f"{each.target} (rank {rank.get(each.target, '?')})",
            _number(each.cost),
            _number(each.gain),
        )
        for each in steps[-_STEPS:]
    ]
    return table(["generation", "from island", "to island", "cost", "better by"], rows)


def _link_table(arrivals: Arrivals, history: History) -> str:
    size = len(history.islands)
    ones = np.ones(len(arrivals))
    parts = [ones, arrivals.accepted.astype(float), (arrivals.gain > 0).astype(float)]
    sent, accepted, won = (arrivals.matrix(history.islands, part).ravel() for part in parts)
    gain = arrivals.matrix(history.islands, arrivals.gain).ravel()
    links = np.flatnonzero(sent)
    busiest = links[np.lexsort((-sent[links], -won[links]))][:_LINKS]
    rows = [
        (
            f"{history.islands[link % size]} to {history.islands[link // size]}",
            *(f"{each[link]:,.0f}" for each in (sent, accepted, won)),
            _number(gain[link]),
        )
        for link in busiest
    ]
    return table(["islands", "arrived", "accepted", "became the best", "sum of gains"], rows)


_NAMES = {"python": "Python", "numpy": "NumPy", "cupy": "CuPy"}
_PYTHON_PACKAGE = re.compile(r"-cuda\d+x$")


def origin(run: RecordedRun) -> str:
    """Return a table of what is needed to repeat a run."""
    return table(["origin", "value"], _origin_rows(run), words=True)


def settings(run: RecordedRun) -> str:
    """Return tables of all settings."""
    rows = [*_setting_rows(run.settings, _used(run))]
    size = -(-len(rows) // 3)
    parts = [rows[first : first + size] for first in range(0, len(rows), size)]
    tables = [table(["setting", "value"], part, words=True) for part in parts]
    return figures(*tables, kind="three")


def _origin_rows(run: RecordedRun) -> Iterator[tuple[str, str]]:
    """Yield the command, the date, the device and the versions, as far as they are recorded."""
    result = run.result
    line = ["islands", "run", "--config", str(run.folder / SETTINGS)]
    if result is not None and result.ranks > 1:
        line = ["mpirun", "-n", str(result.ranks), *line]
    yield "repeat it with", shlex.join(line)
    if result is None:
        return
    yield "same digest again", "yes" if result.reproducible else "no"
    if run.date:
        yield "finished", run.date
    yield "device", f"{result.device} (backend {result.backend})"
    if run.versions:
        yield "versions", ", ".join(f"{_named(k)} {v}" for k, v in run.versions.items())


def _named(package: str) -> str:
    name = _PYTHON_PACKAGE.sub("", package)
    return _NAMES.get(name, name)


def _used(run: RecordedRun) -> dict[str, str]:
    """Return what the run used for settings that left the choice to the program."""
    result = run.result
    if result is None:
        return {}
    used = {}
    if run.settings.get("backend") == "auto":
        used["backend"] = result.backend
    threads = _threads(result)
    if run.settings.get("threads") == 0 and threads:
        used["threads"] = threads
    return used


def _threads(result: Result) -> str:
    """Return the number of threads of a CPU, as its name states it."""
    found = re.fullmatch(r"CPU, (\d+) threads?", result.device)
    return found[1] if found is not None else ""


def _setting_rows(
    settings: Mapping[str, Any], used: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the rows of the table of settings; each colony has one row."""
    for name, value in settings.items():
        if name != COLONY:
            yield name, f"{_shown(value)}, used: {used[name]}" if name in used else _shown(value)
            continue
        for number, colony in enumerate(value):
            own = (f"{key} = {_shown(each)}" for key, each in flat(colony).items())
            yield f"colony {number}", ", ".join(own)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()  # as in run.toml
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value) or "none"


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
