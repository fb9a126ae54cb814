"""Campaigns: the ranks, the store and the progress report of a command with many runs.

The key of a cell determines its result: it contains the instance, the settings and the seed. Rank 0
keeps the results in the store. Either a scheduler distributes the runs over the ranks, or the ranks
(with `on_first`, the first ones) perform each run together; the results are the same.
"""

import shlex
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial, reduce
from operator import or_
from pathlib import Path
from typing import Any, TextIO, TypeVar

from islands.backends.base import Backend
from islands.cells.store import Key, Store, StoredResult, plain
from islands.display.heartbeat import Heartbeat, end_work, write_work
from islands.engine.plan import Cell, Plan
from islands.engine.scheduler import Scheduler
from islands.engine.signals import INTERRUPT, Interruption, received
from islands.errors import IslandsError, Suspended
from islands.parallel import InterruptedTogether, World
from islands.paths import writing
from islands.progress.result import Result
from islands.record.claim import fresh
from islands.record.folder import MANY_LOCK, FolderKind, reject_other_work

Value = TypeVar("Value")
_SUSPENSION = 2


class Campaign:
    """The ranks of a command, the store in its folder, and the report of its progress.

    All methods but `print` are collective. A signal to one rank raises the same exception on all
    ranks: at once if it ended a run, otherwise before the next cell, so that no result is lost.
    """

    def __init__(
        self,
        world: World | None = None,
        heartbeat: Heartbeat | None = None,
        kind: FolderKind = FolderKind.EXPERIMENT,
    ) -> None:
        """Begin without a folder, so no results are kept."""
        self.world, self.heartbeat = world or World(), heartbeat or Heartbeat()
        self.store, self.kind = Store(kind), kind
        self.folder: Path | None = None
        self._is_new = False

    # The folder.

    @contextmanager
    def opened(
        self,
        requested: Path | None,
        name: str,
        reject: Callable[[Path], None],
        created: Collection[str] = (),
        *,
        force: bool = False,
    ) -> Iterator[Path]:
        """Yield the requested folder, or a new one in `runs`, open until the block ends.

        Reject a folder with another kind of work; `reject` checks one with the same kind. `created`
        contains the names that this work may create in the folder before its first result.
        """

        def claimed() -> tuple[Path, bool]:
            if requested is not None:
                reject_other_work(requested, self.kind, created)
                reject(requested)
                return requested, not requested.exists()
            runs = Path("runs")
            with writing(runs):
                return fresh(runs, f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"), True

        folder, self._is_new = self.world.from_first(claimed)
        try:
            self.open(folder, force=force)
            yield folder
        finally:
            self.close()

    def open(self, folder: Path, *, force: bool = False) -> None:
        """Lock the folder and read its store; with `force`, remove the results in it."""
        self.folder = folder
        self.world.from_first(lambda: self.store.open(folder, force=force))
        if self.world.rank == 0:
            # Other processes read the progress in the folder.
            self.heartbeat.listener = partial(write_work, folder)

    def end_work(self) -> None:
        """Tell other processes that all cells are done."""
        if self.world.rank == 0 and self.folder is not None:
            end_work(self.folder)

    def close(self) -> None:
        """Release the folder; remove it if it is new and has no results."""
        if self._is_new and not self.store.has_new and self.world.rank == 0 and self.folder:
            with suppress(OSError, IslandsError):
                end_work(self.folder)
                if {path.name for path in self.folder.iterdir()} <= {MANY_LOCK}:
                    self.store.remove()
        self.store.close()

    def to_continue(self, done: int, of: str, *, force: bool) -> str:
        """Return a message with the command that continues with the remaining cells."""
        out = f"--out {shlex.quote(str(self.folder))}"
        without = ", without --force" if force else ""
        return f"\nEnded after {done} of {of}. To continue, repeat the command with {out}{without}"

    def print(self, text: str, stream: TextIO | None) -> None:
        """Print a line of results on rank 0."""
        if self.world.rank == 0 and stream is not None:
            self.heartbeat.print(text, stream)

    # The cells.

    def result(
        self, key: Key, make: Callable[[], Mapping[str, Any]], words: str = ""
    ) -> StoredResult:
        """Return the stored result of a cell; if there is none, create it by `make`.

        `words` describe the cell.
        """
        known = self.world.bcast(self.store.known(key))
        if known is not None:
            self.heartbeat.skip()
            return known
        if words:
            self.heartbeat.detail(words)
        stored = plain(make())
        self.store.add(key, stored)
        return stored

    def cells(
        self,
        plan: Plan[Cell],
        groups: Iterable[Sequence[Cell]],
        devices: Sequence[Backend],
        places: int | None = None,
    ) -> Iterator[tuple[Cell, Any]]:
        """Yield the cells of a plan with their results: see `Scheduler.run`."""
        self.raise_received()
        scheduler = Scheduler(plan, devices, self.world, places=places)
        yield from scheduler.run(groups, lambda: received() != 0)
        self.raise_received()

    def on_first(self, count: int, work: Callable[[World], Value]) -> Value:
        """Do `work` on the first `count` ranks while others wait; return the value of rank 0."""
        self.raise_received()
        if count >= self.world.size:
            return work(self.world)
        part = self.world.part(count)
        value, ended_by = None, 0
        try:
            value = None if part is None else work(part)
        except KeyboardInterrupt:
            ended_by = INTERRUPT
        except Suspended:
            ended_by = _SUSPENSION
        self.world.wait_for_all()
        values = self.world.allgather((value, ended_by))
        _raise_signals(reduce(or_, (signals for _, signals in values)))
        return next(value for value, _ in values if value is not None)

    # Signals.

    def receiving_signals(self, work: str) -> Interruption:
        """Return a context manager that receives signals, so that all ranks end together."""
        return Interruption(suspends=f"ending the {work}", interrupts=f"ending the {work}")

    def received(self) -> int:
        """Return the signals that any rank has received."""
        return reduce(or_, self.world.allgather(received()), 0)

    def raise_received(self) -> None:
        """Raise the same exception on all ranks if one has received a signal."""
        _raise_signals(self.received())


def require_complete(result: Result) -> Result:
    """Return the result of a run; end the campaign if a signal ended the run."""
    if result.interrupted:
        raise InterruptedTogether
    if result.suspended:
        raise Suspended
    return result


def _raise_signals(together: int) -> None:
    if together & INTERRUPT:
        raise InterruptedTogether
    if together:
        raise Suspended
