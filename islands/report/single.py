"""The page of one run."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from islands import statistics, text
from islands.configuration.given import COLONIES
from islands.errors import IslandsError
from islands.progress.result import Result
from islands.progress.usage import PHASES, RANKS
from islands.record.folder import RUN_SETTINGS
from islands.report.course import (
    AXES,
    PARTS,
    draw_convergence,
    draw_lineage,
    draw_matrix,
    draw_phases,
    has_diversity,
    words_of,
)
from islands.report.history import History, Lineage, Migrants
from islands.report.page import (
    Page,
    facts,
    figures,
    folded,
    note,
    paragraph,
    plot,
    table,
    table_of,
)
from islands.report.recorded import RecordedRun
from islands.report.solution import draw_solution, shows_more_than_items
from islands.settings import flat
from islands.text import counted

_ROWS, _LINKS, _STEPS, _LISTED = 12, 20, 60, 200
_STOPS = 6
"""Number of islands at each end of a lineage that a sentence names."""
_DIVERSITY = (
    "Distance: the mean distance of genomes in a sample of an island, 1 if they differ everywhere;"
    " of tours, the share of edges that only one of them has. Distinct costs: their"
    " number as a share of the population; equal solutions have the same cost."
)
_HOST = (
    "Times of the host: it waits for a GPU only when it needs a result, so a phase with such a"
    " result includes the generations before it."
)
_PACKAGES = {"python": "Python", "numpy": "NumPy", "cupy": "CuPy"}
_PYTHON_PACKAGE = re.compile(r"-cuda\d+x$")


def page_of(run: RecordedRun) -> Page:
    """Return the page of a run, finished or not."""
    page = Page(run.title)
    page.add(facts(_summary(run)))
    if run.result is None:
        page.add(note("This run is not finished: the page shows its rows so far."))
    history = run.history
    if history is None:
        page.add(note(_sentence(run.without_rows())))
    else:
        page.section("Convergence", *_course(run, history))
    page.section("Solution", *_solution(run))
    if history is not None:
        page.section("Migration", *_migration(run, history))
        page.section("Time", *_times(run, history))
    page.section("Origin", table_of(["origin", "value"], _origin(run), words=True))
    rows = [*_settings(run)]
    size = -(-len(rows) // 3)
    parts = [rows[first : first + size] for first in range(0, len(rows), size)]
    tables = [table_of(["setting", "value"], part, words=True) for part in parts]
    page.section("Settings", figures(*tables, kind="three"))
    page.add(*map(note, run.notes))
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
    word = run.problem.words.cost if run.problem is not None else "cost"
    yield paragraph(f"{words_of(history)} {_DIVERSITY}", "soft")
    first, *others = AXES
    yield figures(*_pictures(run, history, first, word))
    drawn = figures(*(next(_pictures(run, history, over, word)) for over in others))
    yield folded(f"Costs over {' and over '.join(others)}", drawn)
    few = history.thinned(_ROWS)
    rows = [
        {
            "generation": f"{few.generations[i]:,}",
            "seconds": f"{few.seconds[i]:.2f}",
            "evaluations": text.count(few.evaluations[i]),
            "best": _number(best),
            "mean": _number(_mean(few.mean[i])),
            "distance": f"{_mean(few.distance[i]):.3f}",
            "distinct %": f"{100 * _mean(few.distinct[i]):.1f}",
        }
        for i, best in enumerate(few.overall())
    ]
    yield folded("Numbers", table(rows))


def _pictures(run: RecordedRun, history: History, over: str, word: str) -> Iterator[str]:
    """Yield a picture of the costs, and one of the diversity if it is known."""
    captions = {
        "costs": f"Best and mean {word} of the islands over {over}",
        "diversity": f"Diversity of the islands over {over}",
    }
    for part in PARTS if has_diversity(history) else PARTS[:1]:
        drawn = draw_convergence(history, over, best_known=run.best_known, parts=[part])
        yield plot(drawn, captions[part])


def _mean(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return statistics.mean(known) if known.size else float("nan")


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:,.10g}"


def _solution(run: RecordedRun) -> Iterator[str]:
    result = run.result
    if result is None or result.solution is None:
        return
    problem = run.problem
    try:
        drawn, words = draw_solution(problem, result.solution_kind, result.solution)
    except IslandsError as error:
        run.notes.append(str(error))
        problem = None
        drawn, words = draw_solution(None, result.solution_kind, result.solution)
    items = result.items() or []
    if isinstance(items, dict):
        items = [f"{name} = {value};" for name, value in items.items()]
    shown = [f"{item:.6g}" if isinstance(item, float) else str(item) for item in items[:_LISTED]]
    more = "" if len(items) <= _LISTED else f" ... ({len(items)} in all, see solution.parquet)"
    listed = paragraph(f"{' '.join(shown)}{more}")
    if shows_more_than_items(problem, result.solution_kind):
        yield plot(drawn, words)
        yield folded("Items", listed)
    else:
        yield paragraph(f"{words} The function plot= of a problem draws a picture here.", "soft")
        yield listed


def _migration(run: RecordedRun, history: History) -> Iterator[str]:
    migrants, lineage = run.migrants, run.lineage
    if len(history.islands) == 1:
        return
    if migrants is None or lineage is None:
        yield paragraph(_sentence(run.without_migrants()), "soft")
        return
    yield paragraph(
        f"{counted(len(migrants), 'migrant', form=',')} arrived,"
        f" {migrants.accepted.sum():,} were accepted, and {(migrants.gain > 0).sum():,} became the"
        " best of their island. Of the migrants that arrive at an island in one migration, only the"
        " best one counts as such."
    )
    yield paragraph(_lineage_words(lineage, history))
    words = (
        "The lineage of the best solution: each step is a migrant that became the best of its"
        " island. Grey: all such migrants. Dotted lines separate ranks."
    )
    steps = [
        {
            "generation": f"{step.generation:,}",
            "from island": history.placed(step.source),
            "to island": history.placed(step.target),
            "cost": _number(step.cost),
            "better by": _number(step.gain),
        }
        for step in lineage.steps[-_STEPS:]
    ]
    cells = "Migrants from each island to each other one: accepted, and became the best there"
    drawn = figures(
        plot(draw_lineage(migrants, history, lineage), words, table(steps)),
        plot(
            draw_matrix(migrants, history.islands),
            *(f"{cells}.", table(_links(migrants, history.islands))),
            label=cells,
        ),
    )
    is_alone = len(np.unique(history.ranks)) == 1
    yield folded("Lineage of the best, and migrants by island", drawn) if is_alone else drawn


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _lineage_words(lineage: Lineage, history: History) -> str:
    """Return the lineage of the best solution in a sentence."""
    if not lineage.steps:
        found = history.placed(lineage.island)
        return f"No migrant led to the best solution: island {found} found it."
    path = [lineage.steps[0].source, *(step.target for step in lineage.steps)]
    ranks = len(set(map(history.rank_of, path)))
    stops = [history.placed(island) if ranks > 1 else str(island) for island in path]
    if len(stops) > 2 * _STOPS:
        left_out = counted(len(stops) - 2 * _STOPS, "other")
        stops = [*stops[:_STOPS], left_out, *stops[-_STOPS:]]
    return (
        f"The lineage of the best solution has {counted(len(lineage.steps), 'migrant')} and passes"
        f" through {counted(len(set(path)), 'island')} on {counted(ranks, 'rank')}:"
        f" {', '.join(stops)}."
    )


def _links(migrants: Migrants, islands: np.ndarray) -> Iterator[dict[str, str]]:
    """Yield the busiest links between islands."""

    def sums(values: ArrayLike) -> np.ndarray:
        return migrants.matrix(islands, np.asarray(values, np.float64)).ravel()

    sent, accepted = sums(np.ones(len(migrants))), sums(migrants.accepted)
    won, gain = sums(migrants.gain > 0), sums(migrants.gain)
    links = np.flatnonzero(sent)
    for link in links[np.lexsort((-sent[links], -won[links]))][:_LINKS]:
        yield {
            "islands": f"{islands[link % len(islands)]} to {islands[link // len(islands)]}",
            "arrived": f"{sent[link]:,.0f}",
            "accepted": f"{accepted[link]:,.0f}",
            "became the best": f"{won[link]:,.0f}",
            "sum of gains": _number(gain[link]),
        }


def _origin(run: RecordedRun) -> Iterator[tuple[str, str]]:
    """Yield the command, the date, the device and the versions, as far as they are recorded."""
    result = run.result
    line = ["islands", "run", "--config", str(run.folder / RUN_SETTINGS)]
    if result is not None and result.ranks > 1:
        line = ["mpirun", "-n", str(result.ranks), *line]
    yield "repeat it with", shlex.join(line)
    if run.finished is None or result is None:
        return
    yield "same digest again", "yes" if result.reproducible else "no"
    if run.finished.date:
        yield "finished", run.finished.date
    yield "device", f"{result.device} (backend {result.backend})"
    if versions := run.finished.versions:
        plain = {_PYTHON_PACKAGE.sub("", name): version for name, version in versions.items()}
        yield "versions", ", ".join(f"{_PACKAGES.get(k, k)} {v}" for k, v in plain.items())


def _settings(run: RecordedRun) -> Iterator[tuple[str, str]]:
    """Yield all settings, with the values that the run has chosen for automatic ones.

    Each colony has one row.
    """
    used = {} if run.result is None else _used(run.settings, run.result)
    for name, value in run.settings.items():
        if name != COLONIES:
            yield name, f"{_shown(value)}, used: {used[name]}" if name in used else _shown(value)
            continue
        for number, colony in enumerate(value):
            settings = (f"{key} = {_shown(setting)}" for key, setting in flat(colony).items())
            yield f"colony {number}", ", ".join(settings)


def _used(settings: Mapping[str, Any], result: Result) -> dict[str, str]:
    used = {}
    if settings.get("backend") == "auto":
        used["backend"] = result.backend
    threads = re.fullmatch(r"CPU, (\d+) threads?", result.device)
    if settings.get("threads") == 0 and threads is not None:
        used["threads"] = threads[1]
    return used


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()  # as in run.toml
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value) or "none"


def _times(run: RecordedRun, history: History) -> Iterator[str]:
    """Yield tables of the phases and the ranks."""
    result = run.result
    if result is not None:
        phases = {"compilation of kernels": result.compile_seconds}
        phases["all generations"] = result.seconds
        if result.abandoned_seconds:
            phases["of which abandoned at the end"] = result.abandoned_seconds
        yield table({"phase": k, "seconds": f"{v:.2f}"} for k, v in phases.items())
    rank_parts = [
        *(() if result is None else _by_rank(result.rank_seconds)),
        table(_ranks(run, history)),
        paragraph(
            "Messages: the time in which migrants travel between ranks, which may overlap with"
            " generations.",
            "soft",
        ),
    ]
    is_alone = len(np.unique(history.ranks)) == 1
    yield from [folded("Phases of the rank", "".join(rank_parts))] if is_alone else rank_parts


def _by_rank(ranks: Sequence[Mapping[str, float]]) -> Iterator[str]:
    """Yield a picture and a table of the phases of each rank; omit phases without time."""
    names = [name for name in PHASES if any(rank.get(name) for rank in ranks)]
    phases = [name for name in names if name != RANKS or len(ranks) > 1]
    if not phases:
        return
    words = "Seconds per rank and phase since the last start"
    numbers = table(
        {"rank": number, **{name: f"{rank.get(name, 0.0):.3f}" for name in phases}}
        for number, rank in enumerate(ranks)
    )
    yield figures(plot(draw_phases(ranks, phases), f"{words}. {_HOST}", numbers, label=words))


def _ranks(run: RecordedRun, history: History) -> Iterator[dict[str, object]]:
    trace, seconds = run.trace, float(history.seconds[-1])
    assert trace is not None
    generations, ranks = (np.asarray(trace.column(name)) for name in ("generation", "rank"))
    last = np.asarray(trace.column("evaluations")) * (generations == history.generations[-1])
    for rank in np.unique(history.ranks):
        done = int(last[ranks == rank].sum())
        migrants, messages = _messages(run, int(rank))
        yield {
            "rank": rank,
            "islands": int((history.ranks == rank).sum()),
            "evaluations": text.count(done),
            "evaluations/s": text.count(done / seconds) if seconds > 0 else "-",
            "migrants": migrants,
            "messages": messages,
        }


def _messages(run: RecordedRun, rank: int) -> tuple[str, str]:
    """Return the number of migrants of a rank, and the time of their messages."""
    if run.migrations is None:
        return "-", "-"
    selected = np.asarray(run.migrations.column("rank")) == rank
    spent = np.asarray(run.migrations.column("microseconds"), np.float64)[selected]
    epochs = np.asarray(run.migrations.column("epoch"))[selected]
    if not spent.size:
        return "0", "-"
    # Migrants of one migration travel at the same time: the slowest counts.
    _, place = np.unique(epochs, return_inverse=True)
    slowest = np.zeros(place.max() + 1)
    np.fmax.at(slowest, place, spent)
    return f"{spent.size:,}", f"{slowest.sum() / 1e6:.3f} s"
