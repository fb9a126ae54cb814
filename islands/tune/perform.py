"""Does the runs of a tuning that are not done yet, and ranks the configurations."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from islands.backends.base import Backend
from islands.display.heartbeat import Heartbeat
from islands.errors import IslandsError, RunError, UsageError
from islands.paths import published, writing
from islands.record.folder import fresh
from islands.record.lock import FolderLock
from islands.record.table_file import write_table
from islands.run.signals import suspending
from islands.text import counted
from islands.tune.cell import Cell, run_cell
from islands.tune.configurations import Search
from islands.tune.ledger import LEDGER, LOCK, Ledger, key_of, refuse_unfit
from islands.tune.plan import Task, Tuning
from islands.tune.ranking import Cells, Ranking, Standing
from islands.tune.words import at_work, header, line, seconds_a_task

RANKING, BEST = "ranking.tsv", "best.toml"


@dataclass(frozen=True)
class Output:
    """Where a tuning writes its files and how it speaks."""

    folder: Path | None
    """None takes a fresh one in `runs`."""
    force: bool
    say: Callable[[str], None]
    quiet: bool
    heartbeat: Heartbeat = field(default_factory=Heartbeat)


@dataclass(frozen=True)
class Done:
    """A tuning that has come to its end."""

    folder: Path
    instances: tuple[str, ...]
    runs: int
    ranking: Ranking
    best: dict[str, Any]
    """The settings of the best configuration, as `islands run --config` takes them."""
    left_out: Mapping[int, str]
    """Why, by their numbers, configurations were refused only when they were to be run."""
    search: Search

    def to_json(self) -> str:
        """Return the tuning as one JSON object on one line."""
        whole = {"instances": self.instances, "runs": self.runs, **self.ranking.to_mapping()}
        whole["left_out"] = [
            {"configuration": number, "reason": reason} for number, reason in self.left_out.items()
        ]
        whole |= {"refused": self.search.refused, "last_refusal": self.search.refusal or None}
        return json.dumps({**whole, "best": self.best, "folder": str(self.folder)})


def perform(tuning: Tuning, metric: str, output: Output) -> Done:
    """Do all runs, say how each configuration does, and write the files."""
    with FolderLock("tuning", LOCK) as lock:
        folder = _claimed(output.folder)
        lock.take(folder)
        return _performed(tuning, metric, output, Ledger(folder, force=output.force))


def _performed(tuning: Tuning, metric: str, output: Output, ledger: Ledger) -> Done:
    folder = ledger.folder
    if not output.quiet:
        output.say(header(tuning))
    cells, left_out = _cells(tuning, ledger, output)
    fit = [each for each in tuning.search.configurations if each.number not in left_out]
    ranking = Ranking.of(fit, tuning.problems, cells, metric)
    _require_any(tuning, ranking, folder)
    best = _best(tuning, ranking)
    _write(folder, ranking, best)
    return Done(folder, tuple(tuning.problems), tuning.runs, ranking, best, left_out, tuning.search)


def _require_any(tuning: Tuning, ranking: Ranking, folder: Path) -> None:
    """Refuse to name a best configuration where no run of any is one that counts."""
    if any(each.void < ranking.blocks for each in ranking.standings):
        return
    for name in (RANKING, BEST):  # of an earlier command
        with writing(folder / name):
            (folder / name).unlink(missing_ok=True)
    words, hints = "met a feasible solution", {each.hint for each in tuning.problems.values()}
    if ranking.metric == "evaluations":
        words, hints = "has reached what --stop names", {"Let them run longer, or name less"}
    sentences = [f"{folder / LEDGER}: no run of any configuration {words}", *sorted(hints - {""})]
    raise RunError(". ".join(sentences))


def _best(tuning: Tuning, ranking: Ranking) -> dict[str, Any]:
    number = ranking.standings[0].configuration
    best = next(task for task in tuning.tasks if task.configuration.number == number)
    return tuning.asked.settings(best.configuration.values, best.spec)


def _claimed(folder: Path | None) -> Path:
    """Return the folder asked for, or a fresh one, which is there from now on."""
    if folder is not None:
        refuse_unfit(folder)
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        return folder
    runs = Path("runs")
    with writing(runs):
        return fresh(runs, f"tune-{time.strftime('%Y%m%d-%H%M%S')}")


def _cells(tuning: Tuning, ledger: Ledger, output: Output) -> tuple[Cells, dict[int, str]]:
    """Return what the runs came to, and why configurations were left out, by their numbers.

    What runs came to is a row of the ledger as soon as they are done.
    """
    cells: dict[tuple[int, str], Cell] = {}
    left_out: dict[int, str] = {}
    of = len(tuning.tasks)
    try:
        with suspending():
            tasks = output.heartbeat.over(
                tuning.tasks,
                lambda task: at_work(task, tuning),
                seconds=seconds_a_task(tuning),
            )
            for place, task in enumerate(tasks, 1):
                number = task.configuration.number
                if number in left_out:
                    output.heartbeat.skip()
                    continue
                try:
                    cell, said = _cell(task, tuning, ledger, output.heartbeat)
                    cells[number, task.name] = cell
                except UsageError as error:
                    output.heartbeat.skip()
                    left_out[number] = str(error)
                    said = f"left out: {error}"
                    if len(left_out) == len(tuning.search.configurations):
                        raise
                if not output.quiet:
                    output.say(f"[{place:>{len(str(of))}}/{of}] {said}")
    except BaseException:
        _leave(tuning, ledger, output)
        raise
    return cells, left_out


def _cell(task: Task, tuning: Tuning, ledger: Ledger, heartbeat: Heartbeat) -> tuple[Cell, str]:
    """Return what the runs of a task came to, and the line that says so; run what is not known."""
    key = key_of(task.spec, tuning.runs, beside=tuning.beside)
    known = ledger.cell(key)
    if known is not None:
        heartbeat.skip()
        return known, line(task, known, was_done=True)
    with _named(task):
        cell = run_cell(
            task.spec,
            task.problem,
            tuning.runs,
            tuning.backend,
            beside=tuning.beside,
            tell=heartbeat.detail,
        )
    ledger.enter(key, cell, _facts(task, tuning.backend))
    return cell, line(task, cell, was_done=False)


@contextmanager
def _named(task: Task) -> Iterator[None]:
    """Let errors name the configuration and the instance."""
    try:
        yield
    except IslandsError as error:
        each = task.configuration
        what = f"configuration {each.number} ({each.words()}) on {task.name}"
        raise type(error)(f"{what}: {error}") from error


def _facts(task: Task, backend: Backend) -> dict[str, object]:
    return {
        "instance": task.problem.instance,
        "configuration": task.configuration.number,
        "values": json.dumps(task.configuration.values),
        "backend": backend.name,
        "device": backend.device,
    }


def _leave(tuning: Tuning, ledger: Ledger, output: Output) -> None:
    """Say how to go on; a tuning that could not begin leaves nothing."""
    folder, of = ledger.folder, len(tuning.tasks)
    keys = {key_of(task.spec, tuning.runs, beside=tuning.beside) for task in tuning.tasks}
    noted = {key for key in keys if ledger.cell(key) is not None}
    # A signal may have come before what is noted was written.
    written = Ledger(folder) if noted else ledger
    done = sum(written.cell(key) is not None for key in noted)
    if not done:
        with suppress(OSError):
            if [path.name for path in folder.iterdir()] == [LOCK]:
                (folder / LOCK).unlink()
            folder.rmdir()
        return
    force = ", without --force" if output.force else ""
    output.say(
        f"\nEnded after {done} of {counted(of, 'row')} of {LEDGER}. Go on with the same command and"
        f" --out {shlex.quote(str(folder))}{force}"
    )


def _write(folder: Path, ranking: Ranking, best: dict[str, Any]) -> None:
    import tomli_w

    first, *_ = ranking.standings
    rows = [{**vars(each), "values": json.dumps(each.values)} for each in ranking.standings]
    columns = [each.name for each in fields(Standing)]
    write_table(folder / RANKING, columns, rows, sealed=False)
    with published(folder / BEST) as temporary:
        text = (
            f"# Configuration {first.configuration}, the best of {len(ranking.standings)}:"
            " islands run INSTANCE --config FILE takes it.\n"
        )
        temporary.write_text(text + tomli_w.dumps(best), encoding="utf-8")
