"""What a run says: to a stream for people, and more to log.txt; ranks above 0 say nothing."""

from __future__ import annotations

from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Self, TextIO

from islands.display.table import Table
from islands.paths import writing
from islands.problems.base import Problem
from islands.progress.machine import Machine
from islands.progress.progress import Progress
from islands.spec.spec import RunSpec
from islands.text import counted, one_line


class Screen:
    """Prints a run's header, table and end; quiet, the stream is given the end alone."""

    def __init__(self, stream: TextIO | None, log: Path | None, *, quiet: bool = False) -> None:
        self._stream = stream
        self._quiet = quiet
        self._lock = RLock()  # a thread speaks while a generation takes long
        self._log = _opened(log) if log is not None else None
        self._table = Table(self.say)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._log is not None:
            with writing(self._log.name):
                self._log.close()

    def show(self, progress: Progress) -> None:
        """Add an epoch to the table, where it is time for a row."""
        with self._lock:
            self._table.show(progress)

    def kept(self) -> None:
        """Mark the next row of the table by a checkpoint."""
        self._table.kept()

    def end(self, progress: Progress, summary: str) -> None:
        """Add the last epoch, and say how the run ended."""
        self._table.finish(progress)
        self.say("")
        self.say(summary, always=True)

    def say(self, text: str, *, always: bool = False) -> None:
        """Say something between the rows of the table."""
        with self._lock:
            if self._stream is not None and (always or not self._quiet):
                with writing(getattr(self._stream, "name", "the output")):
                    print(text, file=self._stream, flush=True)
            self.note(text)

    def note(self, text: str) -> None:
        """Write to the log alone."""
        if self._log is not None:
            with writing(self._log.name):
                print(text, file=self._log)


def _opened(log: Path) -> TextIO:
    with writing(log):
        # Names of files may hold bytes that are not UTF-8.
        return log.open("a", encoding="utf-8", errors="backslashreplace", buffering=1)


def opening(version: str, spec: RunSpec, problem: Problem, ranks: int) -> str:
    """Return the lines that say what runs and until when, known before anything is compiled."""
    known = ""
    if problem.best_known is not None:
        word = "optimum" if problem.best_known.status == "optimal" else "best known"
        known = f", {word} {problem.best_known.value}"
    general = spec.general
    preset = f"   preset {spec.preset}" if spec.preset is not None else ""
    lines = [
        f"islands {version}   {problem.name} {one_line(problem.instance)}, size"
        f" {problem.size}{known}",
        *(remark.words for remark in problem.remarks),
        f"{spec.algorithm} on {spec.encoding}{_improved(spec)}"
        f"   {counted(general.islands, 'island')} x {general.population}"
        f" on {counted(ranks, 'rank')}   seed {general.seed}{preset}",
        *([spec.adjusted] if spec.adjusted else []),
        f"stops at: {', or '.join(criterion.words() for criterion in spec.stop)}",
    ]
    return "\n".join(lines)


def place(spec: RunSpec, machine: Machine, folder: Path | None) -> str:
    """Return the lines that say where it runs, known when all is compiled."""
    general, migration = spec.general, spec.migration
    travel = "no migration"
    if migration.topology != "none" and general.islands > 1:
        travel = (
            f"migration {migration.topology} of {migration.migrants} every"
            f" {counted(migration.interval, 'generation')} (transport: {machine.transport})"
        )
    lines = [
        travel,
        f"{machine.device}   backend {machine.backend}: {machine.reason}",
        _compiled(machine.compile_seconds),
    ]
    if folder is not None:
        lines.append(f"run folder {folder}")
    return "\n".join(lines)


def _improved(spec: RunSpec) -> str:
    return "" if spec.improver.name == "none" else f" with {spec.improver.name}"


def _compiled(seconds: float) -> str:
    if seconds < 0.1:
        return "kernels taken from the cache"
    return f"kernels compiled in {seconds:.1f} s, and kept for the next time"
