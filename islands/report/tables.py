"""The pages of a tuning and of an experiment, from their tables."""

from __future__ import annotations

import base64
import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from numbers import Real
from pathlib import Path
from typing import Any

from islands.errors import InputError
from islands.record.kind import EXPERIMENT, PROVENANCE, RANKING, TUNING
from islands.report.figure import COLOURS, HEIGHT, WIDTH, inline, new_figure
from islands.report.page import Page, facts, figure, figures, folded, note, paragraph, table
from islands.text import one_line
from islands.untrusted import parsing, read_toml

_BARS, _ROWS = 25, 1000
_LONGEST = 34
_DOTS = {"markersize": 4, "color": COLOURS[0]}
_PLOT_BYTES = 1 << 20
"""Larger plots stay out of the page."""

Row = Mapping[str, str]


def page_of_tuning(folder: Path) -> Page:
    """Return the page of a tuning: its ranking, and the effect of each tuned setting."""
    page = Page(f"Tuning in {folder.name or folder}")
    tasks = _rows(folder / TUNING, "\t") if (folder / TUNING).is_file() else []
    instances = dict.fromkeys(row.get("instance", "") for row in tasks)
    page.add(facts([("instances", ", ".join(instances)), ("tasks done", len(tasks))]))
    if not (folder / RANKING).is_file():
        page.add(note("This tuning is not finished: there is no ranking yet."))
        return page
    ranked = _rows(folder / RANKING, "\t")
    with parsing(folder / RANKING):
        values = [json.loads(row["values"]) for row in ranked]
        ranks = [float(row["mean_rank"]) for row in ranked]
        names = [_words(each) for each in values]
    words = "Mean rank of each configuration, 1 is the best; light: significantly worse"
    labels = [
        one_line(f"{row['configuration']}: {name}", _LONGEST)
        for row, name in zip(ranked, names, strict=True)
    ]
    pictures = [figure(inline(_bars(ranked, labels, ranks), words), words)]
    keys = list(dict.fromkeys(k for each in values for k in each))
    for key in keys:
        told = f"Mean rank over {key}"
        pictures.append(figure(inline(_scatter(key, values, ranks), told), told))
    page.section("Configurations", figures(*pictures), _ranking(ranked, names))
    return page


def _ranking(ranked: Sequence[Row], names: Sequence[str]) -> str:
    header = ["no", "configuration", "mean rank", "loss", "std dev", "hits", "void", "seconds", "p"]
    columns = ("loss", "standard_deviation", "hits", "void", "seconds", "p")
    rows = [
        (
            row["configuration"],
            name,
            f"{float(row['mean_rank']):.2f}",
            *(_short(row.get(column, "")) for column in columns),
        )
        for row, name in zip(ranked, names, strict=True)
    ]
    return table(header, rows)


def _bars(ranked: Sequence[Row], labels: Sequence[str], ranks: Sequence[float]) -> Any:
    count = min(len(ranks), _BARS)
    made = new_figure(WIDTH, max(1.2, 0.6 + 0.2 * count))
    axes = made.add_subplot()
    worse = [(_number(row.get("p", "")) or 1.0) < 0.05 for row in ranked[:count]]
    alphas = [0.45 if each else 1.0 for each in worse]
    for place in range(count):
        axes.barh(place, ranks[place], color=COLOURS[0], alpha=alphas[place])
    axes.set_yticks(range(count), labels[:count])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("mean rank")
    return made


def _scatter(key: str, values: Sequence[Mapping[str, Any]], ranks: Sequence[float]) -> Any:
    made = new_figure(WIDTH, HEIGHT * 0.8)
    axes = made.add_subplot()
    given = [(each[key], rank) for each, rank in zip(values, ranks, strict=True) if key in each]
    if all(isinstance(value, Real) and not isinstance(value, bool) for value, _ in given):
        axes.plot([value for value, _ in given], [rank for _, rank in given], "o", **_DOTS)
    else:
        names = list(dict.fromkeys(str(value) for value, _ in given))
        places = [names.index(str(value)) for value, _ in given]
        axes.plot(places, [rank for _, rank in given], "o", **_DOTS)
        axes.set_xticks(range(len(names)), names)
        axes.margins(x=0.2)
    axes.set(xlabel=key, ylabel="mean rank")
    return made


def _words(values: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items()) or "defaults"


def page_of_experiment(folder: Path) -> Page:
    """Return the page of an experiment that `islands reproduce` has made."""
    page = Page(f"Experiment in {folder.name or folder}")
    _add_experiment(page, folder)
    return page


def page_of_experiments(folder: Path, experiments: Sequence[Path]) -> Page:
    """Return one page of several experiments, with a list of contents."""
    page = Page(f"Experiments in {folder.name or folder}")
    names = [each.name for each in experiments]
    links = [f'<li><a href="#{escape(name)}">{escape(name)}</a></li>' for name in names]
    page.add(f"<nav><ul>{''.join(links)}</ul></nav>")
    for name, each in zip(names, experiments, strict=True):
        page.add(f'<article id="{escape(name)}"><h1>{escape(name)}</h1>')
        _add_experiment(page, each)
        page.add("</article>")
    return page


def _add_experiment(page: Page, folder: Path) -> None:
    settings = read_toml(folder / EXPERIMENT)
    shown = ("what", "backend", "device", "islands")
    page.add(facts([*((name, settings.get(name)) for name in shown), *_provenance(folder)]))
    # A table comes before the rows of its instances, TABLE-parts.csv.
    for path in sorted(folder.glob("*.csv"), key=lambda each: each.stem):
        page.section(path.stem, *_experiment_table(path))
    text = (folder / EXPERIMENT).read_text(encoding="utf-8", errors="replace")
    page.section("Settings", folded("All settings", f"<pre class='wide'>{escape(text)}</pre>"))


def _provenance(folder: Path) -> Iterator[tuple[str, object]]:
    """Yield when and with which program the tables were completed, if they are."""
    path = folder / PROVENANCE
    if not path.is_file():
        return
    with parsing(path):
        made = json.loads(path.read_text(encoding="utf-8"))
        commit = str(made["commit"])[:12] if made["commit"] else None
        yield "date", str(made["date"])[:10]
        yield "commit", f"{commit}, with changes" if commit and made["changed"] else commit
        yield "ranks", made.get("ranks")


def _experiment_table(path: Path) -> Iterator[str]:
    rows, printed = _rows(path, ","), path.with_suffix(".txt")
    text = printed.read_text(encoding="utf-8", errors="replace") if printed.is_file() else ""
    if text:
        # The title, and how the runs were made.
        yield from map(paragraph, filter(None, text.partition("\n")[0].split("   ")))
    plots = sorted(path.parent.glob(f"{path.stem}*.svg"))
    yield figures(*(figure(_embedded(plot), plot.stem) for plot in plots if _is_small(plot)))
    if not rows:
        yield paragraph("No rows yet.", "soft")
        return
    names = list(rows[0])
    body = table(names, [[_short(row[name]) for name in names] for row in rows[:_ROWS]])
    yield body if len(rows) <= 60 else folded(f"{len(rows)} rows", body)
    if text:
        # The facts follow the rows, after an empty line.
        yield from map(paragraph, text.rstrip().rpartition("\n\n")[2].splitlines())


def _is_small(path: Path) -> bool:
    return path.stat().st_size <= _PLOT_BYTES


def _embedded(path: Path) -> str:
    data = base64.b64encode(path.read_bytes()).decode()
    name = escape(path.stem)
    style = "background: #fff; padding: 4px"
    return f'<img alt="{name}" style="{style}" src="data:image/svg+xml;base64,{data}">'


def _rows(path: Path, delimiter: str) -> list[dict[str, str]]:
    """Return the rows of a table; refuse a damaged one."""
    with parsing(path), path.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter=delimiter))
    if any(None in row or None in row.values() for row in rows):
        raise InputError(f"{path}: a row has another number of columns than the header. Restore it")
    return rows


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _short(text: str) -> str:
    """Return a number with at most six digits, or other text as it is."""
    number = _number(text)
    if number is None:
        return "" if text == "None" else text
    return text if len(text) <= 8 else f"{number:.6g}"
