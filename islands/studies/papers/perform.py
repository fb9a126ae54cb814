"""Fill a paper's tables row by row, print them and write them to files, with plots."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

from islands.cells.store import Store, differing
from islands.display.heartbeat import end_work
from islands.errors import UsageError
from islands.inside import inside
from islands.paths import publish, published
from islands.problems import read
from islands.record.folder import EXPERIMENT_SETTINGS, PAGE, PROVENANCE, experiments_in
from islands.record.provenance import write_provenance
from islands.report.figure import HEIGHT, WIDTH, logarithmic, new_figure, style
from islands.studies.pages.curves import MARKERS, curve_look
from islands.studies.pages.folders import page_for
from islands.studies.papers.cells import Plot, TableRow
from islands.studies.papers.experiment import ExperimentRequest
from islands.studies.papers.rows import numbers
from islands.studies.papers.selection import Selection
from islands.studies.papers.table import PaperTable
from islands.tables import Row
from islands.text import counted
from islands.untrusted import read_toml

_PLACE = "place of the class"


class ExperimentFolder:
    """Writes the files of an experiment; a table is updated after each row."""

    def __init__(self, path: Path, settings: Mapping[str, Any], store: Store | None = None) -> None:
        """Begin an experiment or continue one; reject one with other settings."""
        self.path, self.store = path, Store() if store is None else store
        self.store.open(path)
        try:
            self._begin(settings)
        except BaseException:
            self.close()  # an exception may keep this object alive, and with it the lock
            raise

    def _begin(self, settings: Mapping[str, Any]) -> None:
        import tomli_w

        path = inside(self.path, EXPERIMENT_SETTINGS)
        if not path.exists() and any(experiments_in(self.path)):
            raise UsageError(
                f"--out {self.path}: contains a folder for each paper. Specify one of them, or a"
                " new folder"
            )
        if not path.exists():
            publish(path, tomli_w.dumps(settings))
        elif names := differing(read_toml(path), settings):
            raise UsageError(
                f"--out {self.path}: contains an experiment with other settings:"
                f" {', '.join(names)}. To continue it, repeat its command with the settings in"
                f" {path}; or specify another folder"
            )

    def close(self) -> None:
        """Release the folder's lock."""
        self.store.close()

    def table(self, table: PaperTable, rows: Sequence[TableRow]) -> None:
        """Write the table's rows so far, and the rows of single instances."""
        table.layout.write(self.path, rows)
        of_parts, parts = table.parts()
        if parts:
            of_parts.write(self.path, parts)

    def text(self, table: PaperTable, lines: Sequence[str]) -> None:
        """Write a table as it is printed, with the rows so far."""
        with published(inside(self.path, f"{table.name}.txt")) as temporary:
            temporary.write_text("\n".join([*lines, ""]), encoding="utf-8")

    def page(self) -> Path:
        """Write the page of the completed experiment, and return its path."""
        end_work(self.path)
        path = inside(self.path, PAGE)
        page_for([self.path]).write(path)
        return path

    def write_provenance(self, provenance: Callable[[], Mapping[str, Any]]) -> None:
        """Write the provenance of the tables, unless all results are from earlier runs."""
        if (self.path / PROVENANCE).exists() and not self.store.has_new:
            return
        origin = {**provenance(), "seconds": self.store.seconds()}
        write_provenance(self.path / PROVENANCE, origin)

    def plot(self, table: PaperTable, rows: Sequence[TableRow]) -> None:
        """Write the plots of a table, if any."""
        size = table.layout.columns[1].name
        for plot in table.plots:
            curves = table.curves(plot)
            for form in ("png", "svg"):
                name = f"{table.name}{plot.suffix}.{form}"
                with published(inside(self.path, name)) as temporary:
                    labelled = replace(plot, curves=curves)
                    write_plot(temporary, form, table.title, rows, size, labelled)


def write_plot(
    path: Path, form: str, title: str, rows: Sequence[TableRow], size: str, plot: Plot
) -> None:
    """Write a plot of columns against the column `size`, or against classes of instances."""
    classes = list(dict.fromkeys(str(row[plot.classes]) for row in rows)) if plot.classes else []
    if classes:
        rows = [{**row, _PLACE: classes.index(str(row[plot.classes]))} for row in rows]
    curves, by = list(_curves(rows, _PLACE if classes else size, plot)), plot.classes or size
    figure = draw_columns(
        title, (by, plot.quantity), curves, classes, is_logarithmic=plot.logarithmic
    )
    metadata = {"Title": f"{title}: {plot.quantity}, by {by}"}
    with style():
        figure.savefig(path, format=form, dpi=200, facecolor="white", metadata=metadata)


def _curves(
    rows: Sequence[TableRow], size: str, plot: Plot
) -> Iterator[tuple[str, list[tuple[float, ...]]]]:
    """Yield the label and the points of each curve that is not empty."""
    for group in dict.fromkeys(row.get(plot.by) for row in rows):
        group_rows = [row for row in rows if row.get(plot.by) == group]
        for column, words in plot.curves.items():
            points = sorted(numbers(group_rows, size, column))
            if points:
                named = [str(group)] if plot.by else []
                if not plot.by or len(plot.curves) > 1:
                    named.append(words)
                yield ": ".join(named), points


def perform(
    selections: Sequence[Selection],
    request: ExperimentRequest,
    say: Callable[[str], None],
    folder: ExperimentFolder | None,
) -> dict[str, Any]:
    """Run each table on all ranks; return rows and facts by the name of the table.

    Only rank 0 has a `folder`.
    """
    done = {}
    if known := len(request.campaign.store):
        say(f"\n{counted(known, 'result')} from earlier runs")
    for selection in selections:
        names = [instance.name for instance in selection.available]
        table = selection.table(request, selection.missing, names)
        lines = [f"{table.title}   {table.words()}\n\n{table.layout.header}"]
        say(f"\n{lines[0]}")
        rows = _rows(table, selection, say, folder, lines)
        facts = [*table.facts(rows), *table.scaled_facts(rows)] if rows else []
        sentences = [*(fact.sentence for fact in facts), *_places(table)]
        sentences += [f"our interpretation: {text}" for text in table.interpretations]
        end = "\n".join(sentences) if rows else "no rows"
        say(f"\n{end}")
        if folder is not None and rows:
            folder.text(table, [*lines, "", end])
            folder.plot(table, rows)
        _, parts = table.parts()
        done[table.name] = {
            "rows": rows,
            "facts": {name: value for fact in facts for name, value in fact.values.items()},
            **({"parts": parts} if parts else {}),
            "interpretations": list(table.interpretations),
        }
    return done


def _places(table: PaperTable) -> list[str]:
    """Return a warning if times are from different devices or numbers of ranks."""
    several = [places for places in table.places.values() if len(places) > 1]
    if not several:
        return []
    total = sum(several, Counter[str]())
    counts = ", ".join(f"{place} ({count})" for place, count in total.items())
    return [
        "results come from several devices or numbers of ranks; this affects times, not costs:"
        f" {counts}"
    ]


def _rows(
    table: PaperTable,
    selection: Selection,
    say: Callable[[str], None],
    folder: ExperimentFolder | None,
    lines: list[str],
) -> list[Row]:
    """Run the instances; return the rows, and append their text to `lines`."""
    rows = list[Row]()
    name, campaign = table.name, table.request.campaign
    heartbeat = campaign.heartbeat
    for instance in heartbeat.over(
        selection.available,
        lambda instance: f"{name}: {instance.name}",
        effort=lambda instance: instance.entry.size if instance.entry is not None else 1,
    ):
        problem = campaign.world.run_on_all(partial(read, instance))
        why = table.skip_reason(problem)
        if why:
            say(f"{instance.name}: skipped, as {why}")
            heartbeat.skip()
            continue
        for row in table.rows(problem):
            rows.append(row)
            lines.append(row.line())
            say(lines[-1])
            if folder is not None:
                folder.table(table, rows)
                folder.text(table, lines)
    return rows


_HIGH = 32
"""Maximum length of a line of the label of the vertical axis."""
_NARROW = 5
"""Maximum length of a line of the name of a class."""
_SHORT = 22
"""Maximum length of the names of curves for a legend with two columns."""

Points = Sequence[tuple[float, ...]]


def draw_columns(
    title: str,
    axes_words: tuple[str, str],
    curves: Sequence[tuple[str, Points]],
    classes: Sequence[str],
    *,
    is_logarithmic: bool,
) -> Any:
    """Return a figure of curves against sizes, or against `classes` at the places 0, 1, 2 ..."""
    x_words, y_words = axes_words
    columns = 1 if max((len(label) for label, _ in curves), default=0) > _SHORT else 2
    with style():
        figure = new_figure(WIDTH, HEIGHT + 0.4 + 0.16 * -(-len(curves) // columns))
        axes = figure.add_subplot()
        for number, (label, points) in enumerate(curves):
            axes.plot(*zip(*points, strict=True), label=label, **_look(number, points))
        axes.set(xlabel=x_words, ylabel=fill(y_words, _HIGH))
        figure.suptitle(title, fontsize=8.5, wrap=True)
        xs, ys = ([point[i] for _, points in curves for point in points] for i in (0, 1))
        if classes:
            axes.set_xticks(range(len(classes)), [fill(name, _NARROW) for name in classes])
        elif xs:
            logarithmic(axes.xaxis, min(xs), max(xs))
        if is_logarithmic and (above := [y for y in ys if y > 0]):
            logarithmic(axes.yaxis, min(above), max(above))
        if curves:
            figure.legend(loc="outside lower left", ncols=columns)
    return figure


def _look(number: int, points: Points) -> dict[str, Any]:
    """Return the look of a curve: two curves differ in colour, marker or line."""
    look = {**curve_look(number), "marker": MARKERS[number % len(MARKERS)], "markersize": 3.5}
    xs = [point[0] for point in points]
    # Several instances of the same size are not joined by a line.
    return look if len({*xs}) == len(xs) else {**look, "linestyle": "none"}
