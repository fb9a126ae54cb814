"""The engine of all campaigns: make the cells that a folder does not have, on any number of ranks.

A cell is a piece of work that is made once: one run, or a batch of them. All that its result
depends on is its question, which is JSON: the instance, the settings and the seed. Rank 0 keeps
each result in the ledger. All ranks together make a cell, some of them do (`on_first`), each makes
a part of it (`divided`), or each makes whole cells (`dealt`): the results are the same.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, reduce
from operator import or_
from pathlib import Path
from typing import Any, Generic, TypeVar

from islands.campaign.ledger import Asked, Ledger, Made, plain
from islands.display.heartbeat import Heartbeat, end_work, write_work
from islands.errors import IslandsError, Suspended, UsageError
from islands.parallel import InterruptedTogether, World
from islands.paths import writing
from islands.progress.result import Result
from islands.record.claim import fresh
from islands.record.folder import FolderKind
from islands.run.signals import INTERRUPT, Interruption, received

Value = TypeVar("Value")
Each = TypeVar("Each")
_SUSPENSION = 2


@dataclass(frozen=True)
class Dealt(Generic[Each]):
    """What became of a cell that one rank has made by itself."""

    cell: Each
    made: Made | None
    refusal: UsageError | None = None
    """Why it cannot be made; its result is then None."""
    was_known: bool = False


@dataclass(frozen=True)
class _Part(Generic[Value]):
    """What one rank has done while the others did the same or waited."""

    value: Value | None = None
    error: IslandsError | None = None
    ended_by: int = 0


class Campaign:
    """The ranks of a command, the ledger of its folder, and the report of its progress.

    All methods are collective. A signal to one rank raises the same exception on all ranks: at once
    if it ended a part of the work, otherwise before the next cell, so that no result is lost.
    """

    def __init__(
        self,
        world: World | None = None,
        heartbeat: Heartbeat | None = None,
        kind: FolderKind = FolderKind.EXPERIMENT,
    ) -> None:
        """Keep results in memory until a folder is opened."""
        self.world, self.heartbeat = world or World(), heartbeat or Heartbeat()
        self.ledger, self.kind = Ledger(kind=kind), kind
        self.folder: Path | None = None
        self._is_new = False

    # The folder.

    def claim(self, asked: Path | None, name: str, refuse: Callable[[Path], None]) -> Path:
        """Return the folder that was asked for, unless `refuse` does, or a new one in `runs`."""

        def claimed() -> tuple[Path, bool]:
            runs = Path("runs")
            if self.world.rank > 0:
                return runs, False
            if asked is not None:
                refuse(asked)
                return asked, not asked.exists()
            with writing(runs):
                return fresh(runs, f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"), True

        folder, self._is_new = self.world.bcast(self.world.run_on_all(claimed))
        return folder

    def open(self, folder: Path, *, force: bool = False) -> None:
        """Lock the folder and read its ledger; with `force`, forget the results in it."""
        self.folder = folder

        def opened() -> None:
            if self.world.rank == 0:
                self.ledger.open(folder, force=force)

        self.world.run_on_all(opened)
        if self.world.rank == 0:
            # Other processes see in the folder what is in progress.
            self.heartbeat.tell = partial(write_work, folder)

    def end_work(self) -> None:
        """Tell other processes that all cells are made."""
        if self.world.rank == 0 and self.folder is not None:
            end_work(self.folder)

    def close(self) -> None:
        """Release the folder; remove a new one in which nothing was made."""
        is_unused = self._is_new and not self.ledger.has_new
        if self.world.rank == 0 and self.folder is not None and is_unused:
            self._remove_unused(self.folder)
        self.ledger.close()

    def _remove_unused(self, folder: Path) -> None:
        with suppress(OSError):
            end_work(folder)
            if {path.name for path in folder.iterdir()} <= {self.kind.lock}:
                (folder / self.kind.lock).unlink(missing_ok=True)
                folder.rmdir()

    def to_continue(self, done: int, of: str, *, force: bool) -> str:
        """Return how to make the remaining cells."""
        out = f"--out {shlex.quote(str(self.folder))}"
        without = ", without --force" if force else ""
        return f"\nEnded after {done} of {of}. To continue, repeat the command with {out}{without}"

    # The cells.

    def result(self, asked: Asked, make: Callable[[], Mapping[str, Any]], words: str = "") -> Made:
        """Return the known result of a cell, or the one that all ranks make; `words` report it."""
        known = self.world.bcast(self.ledger.take(asked))
        if known is not None:
            self.heartbeat.skip()
            return known
        if words:
            self.heartbeat.detail(words)
        made = plain(make())
        self.ledger.add(asked, made)
        return made

    def dealt(
        self,
        cells: Collection[Each],
        asked: Callable[[Each], Asked],
        make: Callable[[Each], Mapping[str, Any]],
        words: Callable[[Each], str],
        *,
        seconds: float | None = None,
        is_wanted: Callable[[Each], bool] = lambda _: True,
    ) -> Iterator[Dealt[Each]]:
        """Yield the results of the cells in order; each rank makes whole cells, at the same time.

        `make` must not use MPI. Cells that are not wanted any more, after the results so far, are
        left out. An error of a rank other than a refusal ends the campaign on all ranks.
        """
        listed = [*cells]
        known = self.world.bcast([self.ledger.take(asked(cell)) for cell in listed])
        left = [place for place, made in enumerate(known) if made is None]
        found: dict[int, Dealt[Each]] = {}
        pieces = self.heartbeat.over(listed, words, seconds=seconds)
        for place, cell in enumerate(pieces):
            if not is_wanted(cell):
                self.heartbeat.skip()
                continue
            if (made := known[place]) is not None:
                self.heartbeat.skip()
                yield Dealt(cell, made, was_known=True)
                continue
            if place not in found:
                left = [each for each in left if each >= place and is_wanted(listed[each])]
                mine, left = left[: self.world.size], left[self.world.size :]
                found |= self._round({each: listed[each] for each in mine}, asked, make)
            if found[place].refusal is not None:
                self.heartbeat.skip()
            yield found.pop(place)

    def _round(
        self,
        cells: Mapping[int, Each],
        asked: Callable[[Each], Asked],
        make: Callable[[Each], Mapping[str, Any]],
    ) -> dict[int, Dealt[Each]]:
        """Make a cell on each rank, and add the results to the ledger."""
        mine = [*cells.values()][self.world.rank : self.world.rank + 1]
        parts = self._together((lambda: plain(make(mine[0]))) if mine else None)
        found = {}
        for part, (place, cell) in zip(parts, cells.items(), strict=False):
            if part.value is not None:
                self.ledger.add(asked(cell), part.value)
            refusal = part.error if isinstance(part.error, UsageError) else None
            found[place] = Dealt(cell, part.value, refusal)
        self._raise_ended(parts)
        errors = [part.error for part in parts if part.error is not None]
        for error in errors:
            if not isinstance(error, UsageError):
                self.raise_together(error)
        return found

    def on_first(self, count: int, work: Callable[[World], Value]) -> Value:
        """Do `work` on the first `count` ranks while the others wait; return rank 0's value."""
        if count >= self.world.size:
            self._raise_received()
            return work(self.world)
        part = self.world.part(count)
        return self._values(None if part is None else lambda: work(part))[0]

    def divided(self, count: int, work: Callable[[range], Value]) -> list[Value]:
        """Divide the numbers from 0 to `count` - 1 among the ranks; return what each one made.

        `work` must not use MPI. Ranks without a number make nothing.
        """
        if self.world.size == 1:
            return [work(range(count))]
        rank, size = self.world.rank, self.world.size
        mine = range(rank * count // size, (rank + 1) * count // size)
        return self._values((lambda: work(mine)) if mine else None)

    def _values(self, work: Callable[[], Value] | None) -> list[Value]:
        """Return the values of the ranks that have work, in their order."""
        parts = self._together(work, catches=())
        self._raise_ended(parts)
        return [part.value for part in parts if part.value is not None]

    def _together(
        self,
        work: Callable[[], Value] | None,
        catches: tuple[type[IslandsError], ...] = (IslandsError,),
    ) -> list[_Part[Value]]:
        """Return what became of the work of each rank, in their order."""
        self._raise_received()
        part = _Part[Value]()
        if work is not None:
            try:
                part = _Part(work())
            except KeyboardInterrupt:
                part = _Part(ended_by=INTERRUPT)
            except Suspended:
                part = _Part(ended_by=_SUSPENSION)
            except catches as error:
                part = _Part(error=error)
        self.world.wait_for_all()
        return self.world.allgather(part)

    def raise_together(self, error: IslandsError) -> None:
        """Raise an error that all ranks know, on all of them."""

        def fail() -> None:
            raise error

        self.world.run_on_all(fail)

    # Signals.

    def hearing(self, work: str) -> Interruption:
        """Return what receives signals in a `with` block, for ranks that end together."""
        return Interruption(suspends=f"ending the {work}", interrupts=f"ending the {work}")

    def received(self) -> int:
        """Return the signals that any rank has received."""
        return reduce(or_, self.world.allgather(received()), 0)

    def _raise_received(self) -> None:
        """Raise the same exception on all ranks if one has received a signal."""
        if self.world.size > 1:
            _raise_signals(self.received())

    def _raise_ended(self, parts: Collection[_Part[Any]]) -> None:
        _raise_signals(reduce(or_, (part.ended_by for part in parts), 0))


def completed(result: Result) -> Result:
    """Return the result of a run, unless a signal ended it, which ends the campaign too."""
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
