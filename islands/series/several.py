"""A series of runs, one after the other; where it was ended, it goes on in its folder."""

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
from islands.run.device import Conduct
from islands.run.runner import Output, resume_asked, run
from islands.run.signals import INTERRUPT, Interruption
from islands.series.ledger import LEDGER, enter, holds, row_of
from islands.series.plan import Job, Plan
from islands.series.series import Series
from islands.series.standing import table
from islands.text import count, counted, gap

_ORDERLY = Conduct()


def run_several(plan: Plan, world: World, output: Output, conduct: Conduct = _ORDERLY) -> Series:
    """Do the runs that are not done yet; every rank returns the same series; collective."""
    plan.require_agreement(world, str(output.folder), output.force)
    with Interruption(suspends="ending the series of runs") as between:
        folder = world.bcast(world.agreed(lambda: _claimed(plan, output, world.rank)))
        performance = _Performance(plan, world, output, folder, conduct, between)
        try:
            return performance.perform()
        except BaseException:
            performance.say_how_to_go_on()
            raise
        finally:
            if output.folder is None:
                # A series that could not begin leaves nothing.
                with suppress(OSError):
                    folder.rmdir()


def _claimed(plan: Plan, output: Output, rank: int) -> Path:
    """Return the folder of the series, which rank 0 alone makes and looks into."""
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
    """What has been done so far, which is the same on every rank."""

    def __init__(
        self,
        plan: Plan,
        world: World,
        output: Output,
        folder: Path,
        conduct: Conduct,
        between: Interruption,
    ) -> None:
        self._plan, self._world, self._output, self._folder = plan, world, output, folder
        self._conduct, self._between = conduct, between
        self._results: list[Result] = []

    def perform(self) -> Series:
        """Do all runs, or as many as signals let it; collective."""
        interrupted = suspended = False
        for job in self._plan.jobs():
            heard = self._world.allgather(self._between.requested)
            interrupted = any(each & INTERRUPT for each in heard)
            suspended = any(each & ~INTERRUPT for each in heard)
            if interrupted or suspended:
                break
            self._announce(job)
            result = self._done(job)
            interrupted, suspended = result.interrupted, result.suspended
            self._results.append(result)
            self._report(result)
            if interrupted or suspended:
                break
            self._world.agreed(self._enter)
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
        """Return the result of a run: begun, gone on with, or found; collective."""
        folder, world = self._folder / job.folder, self._world
        # Where ranks do not wait for each other, there is nothing to go on from.
        force = self._output.force or self._conduct.asynchronous
        stream = None if self._output.quiet else self._output.stream
        output = replace(self._output, folder=folder, force=force, stream=stream)
        if not world.bcast(world.agreed(lambda: self._goes_on(job, folder))):
            return run(job.spec, job.problem, world, output, self._conduct)
        place = {"backend": job.spec.general.backend, "threads": job.spec.general.threads}
        return resume_asked(folder, place, world, output, self._conduct)

    def _goes_on(self, job: Job, folder: Path) -> bool:
        if self._world.rank > 0 or self._output.force or not (folder / SETTINGS).exists():
            return False
        if not self._conduct.asynchronous:
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
        if series.standings:
            self._say(f"\n{table(series.standings)}")
        if series.interrupted or series.suspended:
            self.say_how_to_go_on()
        else:
            self._say(f"\nWrote {self._folder}: {LEDGER}, and a folder a run")

    def say_how_to_go_on(self) -> None:
        """Say which command does the runs that are left, where some are done."""
        if self._results:
            out = f"--out {shlex.quote(str(self._folder))}"
            force = ", without --force" if self._output.force else ""
            done = sum(not (each.interrupted or each.suspended) for each in self._results)
            self._say(
                f"\nEnded after {done} of {counted(len(self._plan), 'run')}."
                f" Go on with the same command and {out}{force}"
            )

    def _say(self, text: str) -> None:
        # Which rank is the first may change where ranks die.
        with Screen(self._output.stream if self._world.rank == 0 else None, None) as screen:
            screen.say(text)
