"""The pages of a tuning and of experiments, from the tables in their folders."""

import json
import re
import shlex
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from numbers import Real
from pathlib import Path
from typing import Any

from islands.display.heartbeat import duration, read_work
from islands.errors import InputError
from islands.inside import inside_all
from islands.record.files import bounded_rows
from islands.record.folder import CONCLUSION, EXPERIMENT_SETTINGS, PROVENANCE, RANKING, TUNING_TABLE
from islands.report import page as html
from islands.report.figure import COLOURS, HEIGHT, WIDTH, new_figure, whole_ticks
from islands.report.page import Page, plot
from islands.statistics import SIGNIFICANT
from islands.text import one_line
from islands.untrusted import bounded_text, parsing, read_toml

Row = Mapping[str, str]

_ROWS, _SHORT_TABLE = 1000, 60
_PLOT_BYTES = 1 << 20
"""Maximum size of a plot on a page."""
_BETWEEN_CELLS = re.compile(" {2,}")
_BARS = 25
_LONGEST = 34
_DOTS = {"markersize": 4, "color": COLOURS[0]}


def _provenance_of(folder: Path) -> dict[str, Any]:
    """Return the provenance of the tables in a folder; empty if they are not complete."""
    path = folder / PROVENANCE
    if not path.is_file():
        return {}
    with parsing(path):
        origin = json.loads(bounded_text(path))
        for name in ("date", "commit", "changed"):
            _ = origin[name]  # raises a KeyError, which `parsing` reports, if the file is damaged
        return dict(origin)


def _facts_of(origin: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield the date, the commit, the ranks, the GPU driver and the duration of the runs."""
    if not origin:
        return
    commit = str(origin["commit"])[:12] if origin["commit"] else None
    yield "date", str(origin["date"])[:10]
    yield "commit", f"{commit}, with changes" if commit and origin["changed"] else commit
    yield "ranks", origin.get("ranks")
    yield "GPU driver", origin.get("driver")
    if isinstance(origin.get("seconds"), int | float):
        yield "time", duration(origin["seconds"])


def _command_of(origin: Mapping[str, Any]) -> str:
    """Return the HTML with the command that created the tables; empty if it is unknown."""
    command = origin.get("command")
    if not isinstance(command, list):
        return ""
    line = shlex.join(["islands", *map(str, command)])
    return html.paragraph("Made with:", "soft") + html.preformatted(line, "command")


def _rows_of(path: Path, delimiter: str) -> list[dict[str, str]]:
    """Return the rows of a table; reject a damaged one."""
    rows = bounded_rows(path, delimiter)
    if any(None in row or None in row.values() for row in rows):
        raise InputError(f"{path}: a row and the header differ in length. Restore it")
    return rows


def _number(text: str) -> float | None:
    """Return the number in a text, or None."""
    try:
        return float(text)
    except ValueError:
        return None


def _short(text: str) -> str:
    """Return a number with few digits and no exponent, or other text as it is."""
    value = _number(text)
    if value is None:
        return "" if text == "None" else text
    if len(text) <= 8 and "e" not in text.lower():
        return text
    if abs(value) >= 1e4:
        return f"{value:.2f}".removesuffix(".00")
    return f"{value:.6g}"


def page_of_experiment(folder: Path) -> Page:
    """Return the page of an experiment."""
    page = Page(f"Experiment in {folder.name or folder}")
    _add_experiment(page, folder)
    return page


def page_of_experiments(folder: Path, experiments: Sequence[Path]) -> Page:
    """Return one page of several experiments, with a list of contents."""
    page = Page(f"Experiments in {folder.name or folder}")
    _add_note(page, folder)
    names = [experiment.name for experiment in experiments]
    page.add(html.contents(names))
    for name, experiment in zip(names, experiments, strict=True):
        article = Page(name)
        _add_experiment(article, experiment)
        page.add(html.article(article))
    return page


def _add_experiment(page: Page, folder: Path) -> None:
    settings, origin = read_toml(folder / EXPERIMENT_SETTINGS), _provenance_of(folder)
    shown = ("what", "backend", "device", "islands")
    page.add(html.facts([*((name, settings.get(name)) for name in shown), *_facts_of(origin)]))
    _add_note(page, folder, is_complete=bool(origin))
    page.add(_command_of(origin))
    # A table comes before the rows of its instances, TABLE-parts.csv.
    for path in sorted(folder.glob("*.csv"), key=lambda path: path.stem):
        page.section(path.stem, *_section(path))
    text = bounded_text(folder / EXPERIMENT_SETTINGS)
    page.section("Settings", html.folded("All settings", html.preformatted(text)))


def _add_note(page: Page, folder: Path, *, is_complete: bool = True) -> None:
    """Add a note if the experiment is not finished."""
    work = read_work(folder)
    if is_complete and work is None:
        return
    at = f" It was last working on {work.words}." if work is not None else ""
    page.add(
        html.note(
            f"This experiment is not finished: its tables have the rows so far.{at} Unless it is"
            f" running, repeat its command with --out {shlex.quote(str(folder))} to continue it."
        )
    )


def _section(path: Path) -> Iterator[str]:
    """Yield the table of a file as it was printed; if it was not printed, with all columns."""
    printed = path.with_suffix(".txt")
    if not printed.is_file():
        yield from _whole(path)
        return
    # Parts: the title and the runs; the header and the rows; the facts, if the table is complete.
    parts = bounded_text(printed, errors="replace").strip().split("\n\n")
    yield from map(html.paragraph, filter(None, parts[0].split("   ")))
    yield from _plots(path)
    if len(parts) > 1:
        yield _as_printed(parts[1])
    yield from (html.paragraph(line) for part in parts[2:] for line in part.splitlines())
    yield html.paragraph(f"All columns with exact numbers are in {path.name}.", "soft")


def _as_printed(text: str) -> str:
    """Return a printed table; at least two spaces separate its cells."""
    header, *rows = (_BETWEEN_CELLS.split(line.strip()) for line in text.splitlines())
    if any(len(row) != len(header) for row in rows):
        return html.preformatted(text)
    return _folded_if_long(html.table_of(header, rows[:_ROWS]), len(rows))


def _folded_if_long(body: str, count: int) -> str:
    title = f"{count} rows" if count <= _ROWS else f"The first {_ROWS} of {count} rows"
    return body if count <= _SHORT_TABLE else html.folded(title, body)


def _whole(path: Path) -> Iterator[str]:
    """Yield all columns of a file, with words as headings."""
    yield from _plots(path)
    rows = _rows_of(path, ",")
    if not rows:
        yield html.paragraph("No rows yet.", "soft")
        return
    names = list(rows[0])
    header = [name.replace("_", " ") for name in names]
    body = html.table_of(header, [[_short(row[name]) for name in names] for row in rows[:_ROWS]])
    yield _folded_if_long(body, len(rows))


def _plots(path: Path) -> Iterator[str]:
    # Another table may have a longer name: TABLE-parts, or local-searches-always.
    longer = [table.stem for table in path.parent.glob(f"{path.stem}-*.csv")]
    plots = [
        picture
        for picture in inside_all(path.parent, f"{path.stem}*.svg")
        if picture.stat().st_size <= _PLOT_BYTES and not picture.stem.startswith(tuple(longer))
    ]
    yield html.figures(*(html.figure(*stored_picture(plot)) for plot in plots))


def stored_picture(path: Path) -> tuple[str, str]:
    """Return an SVG file as an image of a page, and its title.

    In an image, browsers run no scripts and load no other files.
    """
    text = bounded_text(path)
    match = re.search("<title>([^<]*)</title>", text)
    title = " ".join(unescape(match[1]).split()) if match else path.stem
    coded = b64encode(text.encode()).decode()
    return html.image(title, f"data:image/svg+xml;base64,{coded}"), title


def page_of_tuning(folder: Path) -> Page:
    """Return the page of a tuning: its ranking, and the effect of each tuned setting."""
    page = Page(f"Tuning in {folder.name or folder}")
    tasks = _rows_of(folder / TUNING_TABLE, "\t") if (folder / TUNING_TABLE).is_file() else []
    is_ranked = (folder / RANKING).is_file()
    origin = _provenance_of(folder) if is_ranked else {}
    page.add(html.facts([*_sizes(tasks), *_facts_of(origin)]))
    if not is_ranked:
        page.add(html.note("This tuning is not finished: there is no ranking yet."))
        return page
    page.add(_command_of(origin))
    ranked = _rows_of(folder / RANKING, "\t")
    with parsing(folder / RANKING):
        values = [json.loads(row["values"]) for row in ranked]
        ranks = [float(row["mean_rank"]) for row in ranked]
        names = [
            " ".join(f"{name}={value}" for name, value in settings.items()) or "as given"
            for settings in values
        ]
    words = "Mean rank of each configuration, 1 is the best; light: significantly worse"
    labels = [
        one_line(f"{row['configuration']}: {name}", _LONGEST)
        for row, name in zip(ranked, names, strict=True)
    ]
    pictures = [plot(_bars(ranked, labels, ranks), words)]
    keys = list(dict.fromkeys(k for settings in values for k in settings))
    pictures += [plot(_scatter(key, values, ranks), f"Mean rank over {key}") for key in keys]
    # The output of the command begins with the columns, and ends with configurations that differ.
    path = folder / CONCLUSION
    legend, *others = bounded_text(path).strip().split("\n\n") if path.is_file() else [""]
    page.section("Conclusion", *map(html.paragraph, others[-1].splitlines() if others else ()))
    metric = str(origin.get("metric") or "loss")
    columns = [html.paragraph(line, "soft") for line in legend.splitlines()]
    page.section(
        "Configurations",
        html.figures(*pictures),
        html.table(_ranking(ranked, names, metric)),
        *columns,
    )
    return page


def _sizes(tasks: Sequence[Row]) -> list[tuple[str, object]]:
    """Return the facts about a tuning: its instances, configurations, runs and devices."""

    def distinct(name: str) -> list[str]:
        return list(dict.fromkeys(row.get(name, "") for row in tasks))

    instances = distinct("instance")
    return [
        ("instances", len(instances)),
        ("their names", ", ".join(instances)),
        ("configurations", len(distinct("values"))),
        ("runs per configuration and instance", ", ".join(distinct("runs"))),
        ("rows done", len(tasks)),
        ("device", ", ".join(distinct("device"))),
    ]


def _ranking(
    ranked: Sequence[Row], names: Sequence[str], metric: str
) -> Iterator[dict[str, object]]:
    for row, name in zip(ranked, names, strict=True):
        yield {
            "no": row["configuration"],
            "configuration": name,
            "mean rank": _rounded(row["mean_rank"], ".2f"),
            metric: _short(row.get("loss", "")),
            "std dev": _short(row.get("standard_deviation", "")),
            "hits": _short(row.get("hits", "")),
            "void": _short(row.get("void", "")),
            "seconds": _rounded(row.get("seconds", ""), ".3f"),
            "p": _rounded(row.get("p", ""), ".2g"),
        }


def _rounded(text: str, form: str) -> str:
    value = _number(text)
    return "-" if value is None else f"{value:{form}}"


def _bars(ranked: Sequence[Row], labels: Sequence[str], ranks: Sequence[float]) -> Any:
    count = min(len(ranks), _BARS)
    figure = new_figure(WIDTH, max(1.2, 0.6 + 0.2 * count))
    axes = figure.add_subplot()
    for place, row in enumerate(ranked[:count]):
        level = _number(row.get("p", ""))
        is_worse = level is not None and level < SIGNIFICANT
        axes.barh(place, ranks[place], color=COLOURS[0], alpha=0.45 if is_worse else 1.0)
    axes.set_yticks(range(count), labels[:count])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("mean rank")
    return figure


def _scatter(key: str, values: Sequence[Mapping[str, Any]], ranks: Sequence[float]) -> Any:
    figure = new_figure(WIDTH, HEIGHT * 0.8)
    axes = figure.add_subplot()
    given = [(value[key], rank) for value, rank in zip(values, ranks, strict=True) if key in value]
    are_numbers = all(isinstance(x, Real) and not isinstance(x, bool) for x, _ in given)
    names = list(dict.fromkeys(str(value) for value, _ in given))
    places = [value if are_numbers else names.index(str(value)) for value, _ in given]
    axes.plot(places, [rank for _, rank in given], "o", **_DOTS)
    if not are_numbers:
        axes.set_xticks(range(len(names)), names)
        axes.margins(x=0.2)
    elif all(isinstance(value, int) for value, _ in given):
        axes.xaxis.set_major_locator(whole_ticks(8))
    axes.set(xlabel=key, ylabel="mean rank")
    return figure
