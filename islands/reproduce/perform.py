"""Fill a paper's tables row by row, print them and write them to files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from islands.instances.locate import Found
from islands.problems import read
from islands.reproduce.cells import Cell, Fact, TableRow
from islands.reproduce.experiment import Experiment, ExperimentRequest
from islands.reproduce.output import ExperimentFolder
from islands.reproduce.selection import Selection
from islands.reproduce.table import PaperTable
from islands.reproduce.timing import scaled_facts
from islands.tables import header, line
from islands.text import counted


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
    if known := len(request.campaign.ledger):
        say(f"\n{counted(known, 'result')} from earlier runs")
    for selection in selections:
        kind = selection.table
        experiment = request.experiment(
            kind.name, kind.preset, kind.generations, is_timed=kind.is_timed
        )
        here = [found.name for found in selection.here]
        table = kind(experiment, selection.missing, here)
        how = experiment.words(kind.presets(), batched=table.batched)
        head = f"{table.title}   {how}\n\n{header(table.columns())}"
        say(f"\n{head}")
        rows = _rows(table, selection, say, folder, head)
        facts = [*table.facts(rows), *scaled_facts(rows, experiment)] if rows else []
        sentences = [fact.sentence for fact in facts if fact.sentence]
        sentences += _places(experiment)
        sentences += [f"our interpretation: {each}" for each in table.interpretations]
        end = "\n".join(sentences) if rows else "no rows"
        say(f"\n{end}")
        if folder is not None and rows:
            folder.text(table, _text(table, head, rows, end))
            folder.plot(table, rows)
        _, parts = table.parts()
        done[table.name] = {"rows": rows, "facts": _values(facts)}
        done[table.name] |= {"parts": parts} if parts else {}
        done[table.name]["interpretations"] = list(table.interpretations)
    return done


def _text(table: PaperTable, head: str, rows: Sequence[TableRow], end: str = "") -> str:
    """Return a table as it was printed; without its `end` if it is not complete."""
    lines = [head, *(line(table.columns(), row) for row in rows), *(["", end] if end else []), ""]
    return "\n".join(lines)


def _places(experiment: Experiment) -> list[str]:
    """Return the devices and ranks of the results, if those of equal runs differ."""
    several = [each for each in experiment.places.values() if len(each) > 1]
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
    head: str,
) -> list[TableRow]:
    rows: list[TableRow] = []
    experiment, name = table.experiment, table.name
    heartbeat = experiment.campaign.heartbeat
    for found in heartbeat.over(selection.here, lambda each: f"{name}: {each.name}", effort=_size):
        problem = experiment.world.run_on_all(partial(read, found))
        why = table.skip_reason(problem)
        if why:
            say(f"{found.name}: skipped, as {why}")
            heartbeat.skip()
            continue
        for row in table.rows(problem):
            rows.append(row)
            say(line(table.columns(), row))
            if folder is not None:
                folder.table(table, rows)
                folder.text(table, _text(table, head, rows))
    return rows


def _size(found: Found) -> float:
    return found.entry.size if found.entry is not None else 1


def _values(facts: Sequence[Fact]) -> dict[str, Cell]:
    return {fact.name: fact.value for fact in facts}
