"""Perform a series of runs; an interrupted series is continued in its folder."""

from __future__ import annotations

import math
import shlex
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from islands.configuration.stop import time_limit
from islands.display.heartbeat import Heartbeat, Work, end_work, write_work
from islands.display.screen import Screen
from islands.inside import inside
from islands.parallel import World
from islands.paths import writing
from islands.progress.result import Result
from islands.record.folder import SERIES_LOCK, SETTINGS, fresh
from islands.record.lock import FolderLock
from islands.run.build import RankOptions
from islands.run.runner import resume_requested, run
from islands.run.signals import INTERRUPT, Interruption
from islands.run.single import Output
from islands.series.ledger import LEDGER, enter, holds, row_of
from islands.series.plan import Plan, PlannedRun
from islands.series.series import Series
from islands.series.summary import table
from islands.text import count, counted, gap

_DEFAULT = RankOptions()


def run_several(
    plan: Plan, world: World, output: Output, rank_options: RankOptions = _DEFAULT
) -> Series:
    """Perform the missing runs and return the series, the same on every rank; collective."""
    plan.require_agreement(world, output.folder, force=output.force)
    with Interruption(suspends="ending the series of runs") as between:
        folder = world.bcast(world.run_on_all(lambda: _claimed(plan, output, world.rank)))
        is_new = output.folder is None or not folder.exists()
        with FolderLock("series", SERIES_LOCK) as lock:
            performance = _Performance(plan, world, output, folder, rank_options, between, lock)
            try:
                return performance.perform()
            except BaseException:
                performance.print_continuation()
                raise
            finally:
                if is_new and world.rank == 0:
                    _remove_unused(folder)


def _claimed(plan: Plan, output: Output, rank: int) -> Path:
    """Return the folder of the series; only rank 0 creates and inspects it."""
    if output.folder is not None:
        if rank == 0:
            plan.refuse_unfit(output.folder, force=output.force)
        return output.folder
    runs = Path("runs")
    if rank > 0:
        return runs
    with writing(runs):
        return fresh(runs, f"several-{time.strftime('%Y%m%d-%H%M%S')}")


def _remove_unused(folder: Path) -> None:
    """Remove the folder if the series could not begin."""
    with suppress(OSError):
        if not any(path.is_dir() for path in folder.iterdir()):
            end_work(folder)
            (folder / SERIES_LOCK).unlink(missing_ok=True)
        folder.rmdir()


def _words(job: PlannedRun) -> str:
    return f"{job.problem.instance}, seed {job.spec.general.seed}"


class _Performance:
    """Performs the runs and collects their results, the same on every rank."""

    def __init__(
        self,
        plan: Plan,
        world: World,
        output: Output,
        folder: Path,
        rank_options: RankOptions,
        between: Interruption,
        lock: FolderLock,
    ) -> None:
        self._plan, self._world, self._output, self._folder = plan, world, output, folder
        self._rank_options, self._between, self._lock = rank_options, between, lock
        self._heartbeat = Heartbeat()
        self._heartbeat.tell = self._tell
        self._results: list[Result] = []

    def perform(self) -> Series:
        """Perform the runs until all are done or a signal arrives; collective."""
        interrupted = suspended = False
        limit = time_limit(self._plan.first[0].spec.stop)
        seconds = limit if math.isfinite(limit) else None
        self._world.run_on_all(self._lock_folder)
        for job in self._heartbeat.over([*self._plan.jobs()], _words, seconds=seconds):
            requested = self._world.allgather(self._between.requested)
            interrupted = any(each & INTERRUPT for each in requested)
            suspended = any(each & ~INTERRUPT for each in requested)
            if interrupted or suspended:
                break
            self._announce(job)
            result = self._done(job)
            interrupted, suspended = result.interrupted, result.suspended
            self._results.append(result)
            self._report(result)
            if interrupted or suspended:
                break
            self._world.run_on_all(self._enter)
        series = Series.of(
            self._plan,
            self._folder,
            self._results,
            interrupted=interrupted,
            suspended=suspended,
        )
        self._end(series)
        return series

    def _done(self, job: PlannedRun) -> Result:
        """Return the result of a run: new, resumed, or already finished; collective."""
        folder, world = inside(self._folder, job.folder), self._world
        # Without checkpoints (--async), there is nothing to resume from.
        force = self._output.force or self._rank_options.asynchronous
        stream = None if self._output.quiet else self._output.stream
        output = replace(self._output, folder=folder, force=force, stream=stream)
        if not world.bcast(world.run_on_all(lambda: self._goes_on(job, folder))):
            return run(job.spec, job.problem, world, output, self._rank_options)
        self._heartbeat.skip()
        place = {"backend": job.spec.general.backend, "threads": job.spec.general.threads}
        trust = self._plan.trust_in(job)
        return resume_requested(folder, place, world, output, self._rank_options, trust=trust)

    def _lock_folder(self) -> None:
        """Create and lock the folder, unless this is done; another rank may be rank 0 now."""
        if self._world.rank == 0:
            with writing(self._folder):
                self._folder.mkdir(parents=True, exist_ok=True)
            self._lock.take(self._folder)

    def _tell(self, work: Work) -> None:
        if self._world.rank == 0:
            write_work(self._folder, work)

    def _goes_on(self, job: PlannedRun, folder: Path) -> bool:
        if self._world.rank > 0 or self._output.force or not (folder / SETTINGS).exists():
            return False
        if not self._rank_options.asynchronous:
            return True
        return holds(self._folder, job.problem.instance, job.spec.general.seed)

    def _enter(self) -> None:
        self._lock_folder()
        if self._world.rank == 0:
            enter(self._folder, row_of(self._results[-1]))

    def _announce(self, job: PlannedRun) -> None:
        if not self._output.quiet:
            space = "\n" if self._results else ""
            number = f"run {len(self._results) + 1} of {len(self._plan)}"
            self._say(f"{space}{number}: {_words(job)}\n")

    def _report(self, result: Result) -> None:
        if self._output.quiet:
            self._say(
                f"{result.instance} seed {result.seed}:"
                f" {'no feasible solution' if result.cost is None else result.cost},"
                f" gap {gap(result.gap)},"
                f" {count(result.evaluations)} evaluations, {result.seconds:.2f} s: {result.reason}"
            )

    def _end(self, series: Series) -> None:
        if series.summaries:
            self._say(f"\n{table(series.summaries)}")
        if series.interrupted or series.suspended:
            self.print_continuation()
        else:
            if self._world.rank == 0:
                end_work(self._folder)
            self._say(f"\nWrote {self._folder}: {LEDGER}, and one folder per run")

    def print_continuation(self) -> None:
        """Print the command that performs the remaining runs, if some are done."""
        if self._results:
            out = f"--out {shlex.quote(str(self._folder))}"
            force = ", without --force" if self._output.force else ""
            done = sum(not (each.interrupted or each.suspended) for each in self._results)
            self._say(
                f"\nEnded after {done} of {counted(len(self._plan), 'run')}."
                f" To continue, repeat the command with {out}{force}"
            )

    def _say(self, text: str) -> None:
        # Another rank may become rank 0 if ranks die.
        with Screen(self._output.stream if self._world.rank == 0 else None, None) as screen:
            screen.say(text)
