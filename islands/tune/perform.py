"""Run the tasks of a tuning that are not done, and rank the configurations."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from islands.backends.base import Backend
from islands.custom.trust import references, signed
from islands.display.heartbeat import Heartbeat, end_work, write_work
from islands.errors import IslandsError, RunError, UsageError
from islands.inside import inside
from islands.paths import published, writing
from islands.record.files import write_table
from islands.record.folder import BEST, CONCLUSION, PROVENANCE, RANKING, fresh
from islands.record.lock import FolderLock
from islands.run.signals import suspending
from islands.text import counted
from islands.tune.configurations import Candidates
from islands.tune.ledger import LEDGER, LOCK, TuneLedger, key_of, refuse_unfit
from islands.tune.messages import at_work, header, line, seconds_a_task
from islands.tune.plan import Task, Tuning
from islands.tune.ranking import RankedConfiguration, Ranking, TaskResults
from islands.tune.runs import TaskResult, run_task
from islands.tune.table import table


@dataclass(frozen=True)
class TuneOutput:
    """Where a tuning writes files and messages."""

    folder: Path | None
    """None creates a new one in `runs`."""
    force: bool
    say: Callable[[str], None]
    quiet: bool
    heartbeat: Heartbeat = field(default_factory=Heartbeat)


@dataclass(frozen=True)
class TuneResult:
    """The result of a tuning."""

    folder: Path
    instances: tuple[str, ...]
    runs: int
    ranking: Ranking
    best: dict[str, Any]
    """The settings of the best configuration in the form of `islands run --config`."""
    left_out: Mapping[int, str]
    """Errors of configurations that were refused when they ran, by number."""
    candidates: Candidates
    elapsed: float
    """The seconds of the rows of earlier commands."""
    has_new: bool
    """Whether this command added rows."""

    def to_json(self) -> str:
        """Return the tuning as one JSON object on one line."""
        whole = {"instances": self.instances, "runs": self.runs, **self.ranking.to_mapping()}
        whole["left_out"] = [
            {"configuration": number, "reason": reason} for number, reason in self.left_out.items()
        ]
        whole |= {
            "refused": self.candidates.refused,
            "last_refusal": self.candidates.refusal or None,
        }
        return json.dumps({**whole, "best": self.best, "folder": str(self.folder)})


def perform(tuning: Tuning, metric: str, output: TuneOutput) -> TuneResult:
    """Make all runs, report each task, and write the files."""
    with FolderLock("tuning", LOCK) as lock:
        folder = _created(output.folder)
        lock.take(folder)
        return _performed(tuning, metric, output, TuneLedger(folder, force=output.force))


def _performed(tuning: Tuning, metric: str, output: TuneOutput, ledger: TuneLedger) -> TuneResult:
    folder = ledger.folder
    if not output.quiet:
        output.say(header(tuning))
    results, left_out = _results(tuning, ledger, output)
    end_work(folder)
    fit = [each for each in tuning.candidates.configurations if each.number not in left_out]
    ranking = Ranking.of(fit, tuning.problems, results, metric)
    _require_any(tuning, ranking, folder)
    best = _best(tuning, ranking)
    _write(folder, ranking, best)
    return TuneResult(
        *(folder, tuple(tuning.problems), tuning.runs, ranking, best, left_out),
        *(tuning.candidates, ledger.elapsed, ledger.has_new),
    )


def _require_any(tuning: Tuning, ranking: Ranking, folder: Path) -> None:
    """Refuse to rank configurations if all runs of all of them are void."""
    if any(each.void < ranking.blocks for each in ranking.ranked):
        return
    for name in (RANKING, CONCLUSION, BEST, PROVENANCE):  # from an earlier command
        with writing(folder / name):
            (folder / name).unlink(missing_ok=True)
    words, hints = "found a feasible solution", {each.hint for each in tuning.problems.values()}
    if ranking.metric == "evaluations":
        words, hints = (
            "reached the target of --stop",
            {"Let runs take longer, or choose an easier target"},
        )
    sentences = [f"{folder / LEDGER}: no run of any configuration {words}", *sorted(hints - {""})]
    raise RunError(". ".join(sentences))


def _best(tuning: Tuning, ranking: Ranking) -> dict[str, Any]:
    number = ranking.ranked[0].configuration
    best = next(task for task in tuning.tasks if task.configuration.number == number)
    return tuning.request.settings(best.configuration.values, best.spec)


def _created(folder: Path | None) -> Path:
    """Create and return the requested folder, or a new one."""
    if folder is not None:
        refuse_unfit(folder)
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        return folder
    runs = Path("runs")
    with writing(runs):
        return fresh(runs, f"tune-{time.strftime('%Y%m%d-%H%M%S')}")


def _results(
    tuning: Tuning, ledger: TuneLedger, output: TuneOutput
) -> tuple[TaskResults, dict[int, str]]:
    """Return the results of the tasks, and the errors of refused configurations by number.

    Each result is a row of the ledger as soon as its runs are done.
    """
    results: dict[tuple[int, str], TaskResult] = {}
    left_out: dict[int, str] = {}
    count = len(tuning.tasks)
    output.heartbeat.tell = partial(write_work, ledger.folder)
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
                    result, said = _result(task, tuning, ledger, output.heartbeat)
                    results[number, task.name] = result
                except UsageError as error:
                    output.heartbeat.skip()
                    left_out[number] = str(error)
                    said = f"skipped: {error}"
                    if len(left_out) == len(tuning.candidates.configurations):
                        raise
                if not output.quiet:
                    output.say(f"[{place:>{len(str(count))}}/{count}] {said}")
    except BaseException:
        _leave(tuning, ledger, output)
        raise
    return results, left_out


def _result(
    task: Task, tuning: Tuning, ledger: TuneLedger, heartbeat: Heartbeat
) -> tuple[TaskResult, str]:
    """Return the result of a task and its line; run the task if the result is unknown."""
    key = key_of(task.spec, tuning.runs, batched=tuning.batched)
    known = ledger.result(key)
    if known is not None:
        heartbeat.skip()
        return known, line(task, known, was_done=True)
    began = perf_counter()
    with _named(task):
        result = run_task(
            task.spec,
            task.problem,
            tuning.runs,
            tuning.backend,
            batched=tuning.batched,
            tell=heartbeat.detail,
        )
    elapsed = {"elapsed": perf_counter() - began}
    ledger.add(key, result, _facts(task, tuning.backend) | elapsed)
    return result, line(task, result, was_done=False)


@contextmanager
def _named(task: Task) -> Iterator[None]:
    """Add the configuration and the instance to the message of an error."""
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


def _leave(tuning: Tuning, ledger: TuneLedger, output: TuneOutput) -> None:
    """Print how to continue; remove the folder of a tuning without results."""
    folder, count = ledger.folder, len(tuning.tasks)
    keys = {key_of(task.spec, tuning.runs, batched=tuning.batched) for task in tuning.tasks}
    added = {key for key in keys if ledger.result(key) is not None}
    # A signal may arrive before an added row is written.
    written = TuneLedger(folder) if added else ledger
    done = sum(written.result(key) is not None for key in added)
    if not done:
        with suppress(OSError):
            end_work(folder)
            if [path.name for path in folder.iterdir()] == [LOCK]:
                (folder / LOCK).unlink()
            folder.rmdir()
        return
    force = ", without --force" if output.force else ""
    output.say(
        f"\nEnded after {done} of {counted(count, 'row')} of {LEDGER}. To continue, repeat the"
        f" command with --out {shlex.quote(str(folder))}{force}"
    )


def _write(folder: Path, ranking: Ranking, best: dict[str, Any]) -> None:
    import tomli_w

    first, *_ = ranking.ranked
    rows = [{**vars(each), "values": json.dumps(each.values)} for each in ranking.ranked]
    columns = [each.name for each in fields(RankedConfiguration)]
    write_table(folder / RANKING, columns, rows, sealed=False)
    with published(inside(folder, CONCLUSION)) as temporary:
        temporary.write_text(table(ranking) + "\n", encoding="utf-8")
    with published(inside(folder, BEST)) as temporary:
        text = (
            f"# Configuration {first.configuration}, the best of {len(ranking.ranked)}. Use it"
            " with: islands run INSTANCE --config FILE\n"
        )
        text += tomli_w.dumps(best)
        # Its scripts have just been run.
        temporary.write_text(signed(text) if any(references(best)) else text, encoding="utf-8")
