"""Perform a series of runs; an interrupted series is continued in its folder."""

from __future__ import annotations

import shlex
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from islands.display.screen import Screen
from islands.parallel import World
from islands.paths import writing
from islands.progress.result import Result
from islands.record.folder import SETTINGS, fresh
from islands.run.device import RankOptions
from islands.run.runner import Output, resume_requested, run
from islands.run.signals import INTERRUPT, Interruption
from islands.series.ledger import LEDGER, enter, holds, row_of
from islands.series.plan import Job, Plan
from islands.series.series import Series
from islands.series.summary import table
from islands.text import count, counted, gap

_DEFAULT = RankOptions()


def run_several(
    plan: Plan, world: World, output: Output, rank_options: RankOptions = _DEFAULT
) -> Series:
    """Perform the missing runs and return the series, the same on every rank; collective."""
    plan.require_agreement(world, str(output.folder), output.force)
    with Interruption(suspends="ending the series of runs") as between:
        folder = world.bcast(world.run_on_all(lambda: _claimed(plan, output, world.rank)))
        performance = _Performance(plan, world, output, folder, rank_options, between)
        try:
            return performance.perform()
        except BaseException:
            performance.print_continuation()
            raise
        finally:
            if output.folder is None:
                # Remove the folder if the series could not begin.
                with suppress(OSError):
                    folder.rmdir()


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
    ) -> None:
        self._plan, self._world, self._output, self._folder = plan, world, output, folder
        self._rank_options, self._between = rank_options, between
        self._results: list[Result] = []

    def perform(self) -> Series:
        """Perform the runs until all are done or a signal arrives; collective."""
        interrupted = suspended = False
        for job in self._plan.jobs():
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

    def _done(self, job: Job) -> Result:
        """Return the result of a run: new, resumed, or already finished; collective."""
        folder, world = self._folder / job.folder, self._world
        # Without checkpoints (--async), there is nothing to resume from.
        force = self._output.force or self._rank_options.asynchronous
        stream = None if self._output.quiet else self._output.stream
        output = replace(self._output, folder=folder, force=force, stream=stream)
        if not world.bcast(world.run_on_all(lambda: self._goes_on(job, folder))):
            return run(job.spec, job.problem, world, output, self._rank_options)
        place = {"backend": job.spec.general.backend, "threads": job.spec.general.threads}
        return resume_requested(folder, place, world, output, self._rank_options)

    def _goes_on(self, job: Job, folder: Path) -> bool:
        if self._world.rank > 0 or self._output.force or not (folder / SETTINGS).exists():
            return False
        if not self._rank_options.asynchronous:
            return True
        return holds(self._folder, job.problem.instance, job.spec.general.seed)

    def _enter(self) -> None:
        if self._world.rank == 0:
            enter(self._folder, row_of(self._results[-1]))

    def _announce(self, job: Job) -> None:
        if not self._output.quiet:
            space = "\n" if self._results else ""
            number = f"run {len(self._results) + 1} of {len(self._plan)}"
            self._say(f"{space}{number}: {job.problem.instance}, seed {job.spec.general.seed}\n")

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
            self._say(f"\nWrote {self._folder}: {LEDGER}, and one folder per run")

    def print_continuation(self) -> None:
        """Print the command that performs the remaining runs, if some are done."""
        if self._results:
            out = f"--out {shlex.quote(str(self._folder))}"
            force = ", without --force" if self._output.force else ""
            done = sum(not (each.interrupted or each.suspended) for each in self._results)
            self._say(
                f"\nEnded after {done} of {counted(len(self._plan), 'run')}."
                f" Continue with the same command and {out}{force}"
            )

    def _say(self, text: str) -> None:
        # Another rank may become rank 0 if ranks die.
        with Screen(self._output.stream if self._world.rank == 0 else None, None) as screen:
            screen.say(text)
