"""Messages of a run besides its table: its header, and the progress of long generations."""

import math
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import islands
from islands.archipelago.archipelago import Archipelago
from islands.archipelago.colonies import ColonySpec
from islands.configuration.resolved import Resolved
from islands.configuration.spec import RunSpec
from islands.display.screen import Screen
from islands.parallel import Deal, World
from islands.progress.usage import Machine
from islands.text import counted, one_line, option, show

_SECONDS = 5.0
"""Seconds before progress within a generation is printed, and between these messages."""
_HANGING_SECONDS = 3.0
"""Seconds after the end of a run before an unfinished evaluation is reported as hanging."""


class Notices:
    """Prints messages before the run has a folder, and keeps them for its log."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        """Print a message and keep it."""
        self.lines.append(text)
        self._screen.say(text)


def announce(
    resolved: Resolved, deal: Deal, world: World, stream: TextIO | None, *, quiet: bool
) -> Notices:
    """Print the header before the slow steps, device setup and compilation; collective."""
    notices = Notices(Screen(stream if world.rank == 0 else None, None, quiet=quiet))
    notices.say(opening(islands.__version__, resolved, deal))
    return notices


def opening(version: str, resolved: Resolved, deal: Deal) -> str:
    """Return the lines about the run and its criteria, which are known before compilation."""
    spec, problem, known = resolved.spec, resolved.problem, ""
    if problem.best_known is not None:
        word = "optimum" if problem.best_known.status == "optimal" else "best known"
        known = f", {word} {problem.best_known.value}"
    if problem.lower_bound is not None:
        known += f", lower bound {problem.lower_bound}"
    general = spec.general
    preset = f"   preset {spec.preset}" if spec.preset is not None else ""
    # The name of a model's instance is that of the model, and is shown once.
    names = dict.fromkeys([problem.name, one_line(problem.instance)])
    lines = [
        f"islands {version}   {' '.join(names)}, size {problem.entries}{known}",
        *(remark.words for remark in problem.remarks()),
        *([problem.words.structure] if problem.words.structure else []),
        f"{_method(spec)}   seed {general.seed}{preset}",
        *_distribution(deal),
        *(_colony(number, colony) for number, colony in enumerate(spec.colonies)),
        *([spec.adjusted] if spec.adjusted else []),
        f"stops at: {', or '.join(criterion.words() for criterion in spec.stop)}",
    ]
    return "\n".join(lines)


def _distribution(deal: Deal) -> list[str]:
    """Return the line about the islands of each rank; none for a single rank, which has all."""
    if deal.ranks == 1:
        return []
    islands, ranks = counted(deal.islands, "island"), counted(deal.ranks, "rank")
    held, team = ({len(of(rank)) for rank in range(deal.ranks)} for of in (deal.held, deal.team))
    if deal.largest_team == 1:
        return [f"{islands} on {ranks}, {_range(held)} each"]
    if deal.teams == 1:
        return [f"{islands} on a team of {ranks}"]
    shared = "" if held == {1} else f", {_range(held)} each"
    return [f"{islands} on {deal.teams} teams of {_range(team)} ranks{shared}"]


def idle_words(idle: int, sharing: int, ranks: int, why: str) -> str:
    """Return the line about ranks that do no work, although they share an island with others."""
    return (
        f"  {idle} of {counted(sharing, 'rank')} idle: {why}."
        f" To keep all ranks busy: {option('islands', ranks)}"
    )


def _range(numbers: set[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} or {high}"


def device_lines(spec: RunSpec, machine: Machine, folder: Path | None) -> str:
    """Return the lines about migration, device and folder, which are known after compilation."""
    general, migration = spec.general, spec.migration
    migrating = "no migration"
    if migration.topology != "none" and general.islands > 1:
        migrating = (
            f"migration {migration.topology} of {migration.migrants} every"
            f" {counted(migration.interval, 'generation')} (transport: {machine.transport})"
        )
    lines = [
        migrating,
        f"{machine.device}   backend {machine.backend}: {machine.reason}",
        _compiled(machine),
    ]
    if folder is not None:
        lines.append(f"run folder {folder}")
    return "\n".join(lines)


def _method(spec: RunSpec) -> str:
    """Return the line about the algorithm and the islands, or about the colonies."""
    if not spec.colonies:
        return _searched(spec.all_colonies[0])
    colonies, islands = len(spec.colonies), counted(spec.general.islands, "island")
    return f"{islands} in {counted(colonies, 'colony', 'colonies')}"


def _colony(number: int, colony: ColonySpec) -> str:
    rate = f", {colony.rate} generations per generation of the run" if colony.rate > 1 else ""
    return f"  colony {number}: {_searched(colony)}{rate}"


def _searched(colony: ColonySpec) -> str:
    improver = "" if colony.improver.name == "none" else f" with {colony.improver.name}"
    islands = counted(colony.islands, "island")
    return f"{colony.algorithm} on {colony.encoding}{improver}   {islands} x {colony.population}"


def _compiled(machine: Machine) -> str:
    if not machine.compiles:
        return "kernels loaded from the cache"
    return f"kernels compiled in {machine.compile_seconds:.1f} s and stored in the cache"


class SlowGenerations:
    """Reports on the generations in progress; called from a thread."""

    def __init__(
        self,
        archipelago: Archipelago,
        spec: RunSpec,
        say: Callable[[str], None],
        evaluator: str = "an evaluation",
    ) -> None:
        """Print with `say`; messages about code that may never return call it `evaluator`."""
        self._archipelago, self._spec, self._say = archipelago, spec, say
        self._evaluator = evaluator
        self._ahead = range(0)
        self._began = self._said = 0.0
        self._over_at = math.inf
        self._has_advised = self._has_warned = False

    def report(self, *, is_over: bool = False) -> None:
        """Print the progress of the current generations if a message is due.

        If `is_over`, they should have ended already. An evaluation that prevents this is reported
        on standard error, once.
        """
        now, ahead = time.perf_counter(), self._archipelago.ahead
        self._over_at = min(self._over_at, now) if is_over and ahead else math.inf
        if now - self._over_at >= _HANGING_SECONDS and not self._has_warned:
            self._has_warned = True
            self._warn(now - self._over_at)
        if ahead is not self._ahead:
            self._ahead, self._began, self._said = ahead, now, now
        elif ahead and now - self._said >= _SECONDS:
            self._said = now
            words = self._words(ahead, now - self._began)
            if self._archipelago.ahead is ahead:  # they may have completed meanwhile
                self._say(words)

    def _words(self, ahead: range, seconds: float) -> str:
        what = f"generation {ahead[0]}"
        if len(ahead) > 1:
            what = f"generations {ahead[0]} to {ahead[-1]}"
        else:
            local = self._archipelago.recorded
            size = self._spec.individuals(local)
            where = "" if len(local) == self._spec.general.islands else " of rank 0"
            done = self._archipelago.new_individuals()
            what += f", {done} of {counted(size, 'individual')}{where}"
        return f"  {what} after {seconds:.0f} s{self._advice()}"

    def _warn(self, seconds: float) -> None:
        """Print how to end an evaluation that does not return, even if the run is quiet."""
        show(
            f"islands: the run should have ended {seconds:.0f} s ago, but waits for"
            f" {self._evaluator}. If it never returns, end the run with Ctrl-C, twice, or with"
            f" kill -9 {os.getpid()} on {platform.node()}, and find the loop with islands check",
            file=sys.stderr,
        )

    def _advice(self) -> str:
        """Return advice on shorter generations on the first call, and an empty string later."""
        if self._has_advised:
            return ""
        self._has_advised = True
        ways = ["a smaller --population"]
        if any(colony.improver.name != "none" for colony in self._spec.all_colonies):
            ways += ["a smaller improver.rate", "fewer improver.steps"]
        ways.append("a GPU" if self._archipelago.is_on_cpu else "more GPUs")
        return f". To shorten it: {', '.join(ways[:-1])}, or {ways[-1]}"
