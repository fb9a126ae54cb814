"""The page of a tuning, from its tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

from islands.record.folder import CONCLUSION, RANKING, TUNING_TABLE
from islands.report.figure import COLOURS, HEIGHT, WIDTH, new_figure, whole_ticks
from islands.report.made import Row, command_of, facts_of, made_by, number, rows_of, short
from islands.report.page import Page, facts, figures, note, paragraph, plot, table_of
from islands.text import one_line
from islands.untrusted import bounded_text, parsing

_BARS = 25
_LONGEST = 34
_DOTS = {"markersize": 4, "color": COLOURS[0]}


def page_of_tuning(folder: Path) -> Page:
    """Return the page of a tuning: its ranking, and the effect of each tuned setting."""
    page = Page(f"Tuning in {folder.name or folder}")
    tasks = rows_of(folder / TUNING_TABLE, "\t") if (folder / TUNING_TABLE).is_file() else []
    is_ranked = (folder / RANKING).is_file()
    made = made_by(folder) if is_ranked else {}
    page.add(facts([*_sizes(tasks), *facts_of(made)]))
    if not is_ranked:
        page.add(note("This tuning is not finished: there is no ranking yet."))
        return page
    page.add(command_of(made))
    ranked = rows_of(folder / RANKING, "\t")
    with parsing(folder / RANKING):
        values = [json.loads(row["values"]) for row in ranked]
        ranks = [float(row["mean_rank"]) for row in ranked]
        names = [_words(each) for each in values]
    words = "Mean rank of each configuration, 1 is the best; light: significantly worse"
    labels = [
        one_line(f"{row['configuration']}: {name}", _LONGEST)
        for row, name in zip(ranked, names, strict=True)
    ]
    pictures = [plot(_bars(ranked, labels, ranks), words)]
    keys = list(dict.fromkeys(k for each in values for k in each))
    for key in keys:
        told = f"Mean rank over {key}"
        pictures.append(plot(_scatter(key, values, ranks), told))
    legend, conclusion = _conclusion(folder)
    page.section("Conclusion", *map(paragraph, conclusion))
    metric = str(made.get("metric") or "loss")
    columns = [paragraph(line, "soft") for line in legend]
    page.section("Configurations", figures(*pictures), _ranking(ranked, names, metric), *columns)
    return page


def _sizes(tasks: Sequence[Row]) -> list[tuple[str, object]]:
    """Return what was tuned: the numbers of instances, configurations and runs, and the devices."""

    def distinct(name: str) -> list[str]:
        return list(dict.fromkeys(row.get(name, "") for row in tasks))

    instances = distinct("instance")
    return [
        ("instances", len(instances)),
        ("their names", ", ".join(instances)),
        ("configurations", len(distinct("values"))),
        ("runs of each on an instance", ", ".join(distinct("runs"))),
        ("rows done", len(tasks)),
        ("device", ", ".join(distinct("device"))),
    ]


def _conclusion(folder: Path) -> tuple[list[str], list[str]]:
    """Return what the terminal said about the columns, and which configurations differ."""
    path = folder / CONCLUSION
    if not path.is_file():  # of an earlier version
        return [], []
    legend, *others = bounded_text(path).strip().split("\n\n")
    return legend.splitlines(), others[-1].splitlines() if others else []


def _ranking(ranked: Sequence[Row], names: Sequence[str], metric: str) -> str:
    header = ["no", "configuration", "mean rank", metric, "std dev", "hits", "void", "seconds", "p"]
    columns = ("loss", "standard_deviation", "hits", "void")
    rows = [
        (
            row["configuration"],
            name,
            f"{float(row['mean_rank']):.2f}",
            *(short(row.get(column, "")) for column in columns),
            _rounded(row.get("seconds", ""), ".3f"),
            _rounded(row.get("p", ""), ".2g"),
        )
        for row, name in zip(ranked, names, strict=True)
    ]
    return table_of(header, rows)


def _rounded(text: str, form: str) -> str:
    value = number(text)
    return "-" if value is None else f"{value:{form}}"


def _bars(ranked: Sequence[Row], labels: Sequence[str], ranks: Sequence[float]) -> Any:
    count = min(len(ranks), _BARS)
    made = new_figure(WIDTH, max(1.2, 0.6 + 0.2 * count))
    axes = made.add_subplot()
    worse = [(number(row.get("p", "")) or 1.0) < 0.05 for row in ranked[:count]]
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
        if all(isinstance(value, int) for value, _ in given):
            axes.xaxis.set_major_locator(whole_ticks(8))
    else:
        names = list(dict.fromkeys(str(value) for value, _ in given))
        places = [names.index(str(value)) for value, _ in given]
        axes.plot(places, [rank for _, rank in given], "o", **_DOTS)
        axes.set_xticks(range(len(names)), names)
        axes.margins(x=0.2)
    axes.set(xlabel=key, ylabel="mean rank")
    return made


def _words(values: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items()) or "as given"
