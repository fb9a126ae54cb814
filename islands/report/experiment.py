"""The pages of experiments that `islands reproduce` has made."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from islands.display.heartbeat import read_work
from islands.inside import inside_all
from islands.record.folder import EXPERIMENT_SETTINGS
from islands.report.figure import stored_picture
from islands.report.made import command_of, facts_of, made_by, rows_of, short
from islands.report.page import (
    Page,
    facts,
    figure,
    figures,
    folded,
    note,
    paragraph,
    table_of,
)
from islands.untrusted import bounded_text, read_toml

_ROWS, _SHORT_TABLE = 1000, 60
_PLOT_BYTES = 1 << 20
"""Larger plots stay out of the page."""
_BETWEEN_CELLS = re.compile(" {2,}")


def page_of_experiment(folder: Path) -> Page:
    """Return the page of an experiment."""
    page = Page(f"Experiment in {folder.name or folder}")
    _add_experiment(page, folder)
    return page


def page_of_experiments(folder: Path, experiments: Sequence[Path]) -> Page:
    """Return one page of several experiments, with a list of contents."""
    page = Page(f"Experiments in {folder.name or folder}")
    _add_note(page, folder)
    names = [each.name for each in experiments]
    links = [f'<li><a href="#{escape(name)}">{escape(name)}</a></li>' for name in names]
    page.add(f"<nav><ul>{''.join(links)}</ul></nav>")
    for name, each in zip(names, experiments, strict=True):
        page.add(f'<article id="{escape(name)}"><h1>{escape(name)}</h1>')
        _add_experiment(page, each)
        page.add("</article>")
    return page


def _add_experiment(page: Page, folder: Path) -> None:
    settings, made = read_toml(folder / EXPERIMENT_SETTINGS), made_by(folder)
    shown = ("what", "backend", "device", "islands")
    page.add(facts([*((name, settings.get(name)) for name in shown), *facts_of(made)]))
    _add_note(page, folder, is_complete=bool(made))
    page.add(command_of(made))
    # A table comes before the rows of its instances, TABLE-parts.csv.
    for path in sorted(folder.glob("*.csv"), key=lambda each: each.stem):
        page.section(path.stem, *_section(path))
    text = bounded_text(folder / EXPERIMENT_SETTINGS)
    page.section("Settings", folded("All settings", f"<pre class='wide'>{escape(text)}</pre>"))


def _add_note(page: Page, folder: Path, *, is_complete: bool = True) -> None:
    """Add a note if the tables have only the rows so far."""
    work = read_work(folder)
    if is_complete and work is None:
        return
    at = f" Its last piece of work was {work.words}." if work is not None else ""
    page.add(
        note(
            f"This experiment is not finished: its tables have the rows so far.{at} Unless it is"
            f" running, repeat its command with --out {shlex.quote(str(folder))} to continue it."
        )
    )


def _section(path: Path) -> Iterator[str]:
    """Yield the table of a file: as it was printed, or if it was not, with all columns."""
    printed = path.with_suffix(".txt")
    if not printed.is_file():
        yield from _whole(path)
        return
    # The title and how the runs were made; the headings and the rows; the facts if it is complete.
    parts = bounded_text(printed, errors="replace").strip().split("\n\n")
    yield from map(paragraph, filter(None, parts[0].split("   ")))
    yield from _plots(path)
    if len(parts) > 1:
        yield _as_printed(parts[1])
    yield from (paragraph(line) for part in parts[2:] for line in part.splitlines())
    yield paragraph(f"All columns with exact numbers are in {path.name}.", "soft")


def _as_printed(text: str) -> str:
    """Return a printed table; at least two spaces separate its cells."""
    header, *rows = (_BETWEEN_CELLS.split(line.strip()) for line in text.splitlines())
    if any(len(row) != len(header) for row in rows):
        return f"<pre class='wide'>{escape(text)}</pre>"
    return _folded_if_long(table_of(header, rows[:_ROWS]), len(rows))


def _folded_if_long(body: str, count: int) -> str:
    title = f"{count} rows" if count <= _ROWS else f"The first {_ROWS} of {count} rows"
    return body if count <= _SHORT_TABLE else folded(title, body)


def _whole(path: Path) -> Iterator[str]:
    """Yield all columns of a file, with words as headings."""
    yield from _plots(path)
    rows = rows_of(path, ",")
    if not rows:
        yield paragraph("No rows yet.", "soft")
        return
    names = list(rows[0])
    header = [name.replace("_", " ") for name in names]
    body = table_of(header, [[short(row[name]) for name in names] for row in rows[:_ROWS]])
    yield _folded_if_long(body, len(rows))


def _plots(path: Path) -> Iterator[str]:
    # Another table may have a longer name: TABLE-parts, or local-searches-always.
    longer = [each.stem for each in path.parent.glob(f"{path.stem}-*.csv")]
    plots = [
        each
        for each in inside_all(path.parent, f"{path.stem}*.svg")
        if each.stat().st_size <= _PLOT_BYTES and not each.stem.startswith(tuple(longer))
    ]
    yield figures(*(figure(*stored_picture(plot)) for plot in plots))
