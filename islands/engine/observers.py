"""The side effects of a run: records, checkpoints, output, and callbacks."""

from typing import ClassVar

import numpy as np

from islands.display.screen import Screen
from islands.engine.failures import Failures
from islands.errors import RunError
from islands.modelling.functions import is_of_signal
from islands.parallel import World
from islands.progress import usage
from islands.progress.progress import Callback, Epoch, Moment, Progress
from islands.record.checkpoint import Checkpoints
from islands.record.journal import Journal
from islands.record.tables import MemoryRecords

_ENDED_BY_CALLBACK = "the callback returned True"


class Observer:
    """Receives the epochs of a run; all methods are called on all ranks.

    At the end of each epoch, including the last, observers first `decide`. Then `epoch` is called
    for all of them, while a GPU may already continue, and only then `keep`, where it is due.
    """

    phase: ClassVar[str] = usage.RECORDS
    """The phase of the run in which the time of this observer is counted."""
    decides: ClassVar[bool] = False
    """Whether it may end a run."""
    sees_between: ClassVar[bool] = False
    """Whether it also receives incomplete long epochs, which are measured for it, and may end the
    run there if it `decides`."""

    def decide(self, progress: Progress) -> str | None:
        """Return the reason to end the run with this epoch, or None; the islands wait meanwhile."""
        return None

    def epoch(self, epoch: Epoch) -> None:
        """Receive an epoch; a GPU may already compute the next generations."""

    def between(self, epoch: Epoch) -> None:
        """Receive an incomplete long epoch, without arrivals.

        If the epoch ends in the same generation, it is received again.
        """

    def is_due(self, moment: Moment) -> bool:
        """Return whether to keep the state of the run now; all ranks return the same."""
        return False

    def keep(self, moment: Moment) -> None:
        """Keep the state of the run after all epochs have been received."""


class Recording(Observer):
    """Adds epochs to the records of the run, including incomplete long ones."""

    sees_between: ClassVar[bool] = True

    def __init__(self, records: Journal | MemoryRecords, failures: Failures) -> None:
        self._records, self._failures = records, failures
        self._seen: Epoch | None = None
        """The last incomplete epoch, which is recorded unless it ends in the same generation."""

    def epoch(self, epoch: Epoch) -> None:
        self.between(epoch)
        self._seen = None
        with self._failures:
            self._records.epoch(epoch)

    def between(self, epoch: Epoch) -> None:
        seen, self._seen = self._seen, epoch
        if seen is not None and seen.progress.generation < epoch.progress.generation:
            with self._failures:
                self._records.epoch(seen)


class Printing(Observer):
    """Prints the progress."""

    sees_between: ClassVar[bool] = True

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def epoch(self, epoch: Epoch) -> None:
        self._screen.show(epoch.progress)

    between = epoch


class Checkpointing(Observer):
    """Writes a checkpoint at intervals, and one at the end."""

    phase: ClassVar[str] = usage.CHECKPOINTS

    def __init__(
        self,
        checkpoints: Checkpoints,
        screen: Screen,
        failures: Failures,
        every: float,
        origin: Moment | None,
    ) -> None:
        """Take the interval in seconds (0: only at the end), and the `origin` of a resumed run."""
        self._checkpoints, self._screen, self._failures = checkpoints, screen, failures
        self._every, self._kept_at = every, 0.0 if origin is None else origin.seconds

    def is_due(self, moment: Moment) -> bool:
        return 0 < self._every <= moment.seconds - self._kept_at

    def keep(self, moment: Moment) -> None:
        with self._failures:
            self._checkpoints.keep(moment)
            self._screen.table.has_checkpoint = True
        self._kept_at = moment.seconds


class Calling(Observer):
    """Calls a user's function on rank 0, which may end the run."""

    phase: ClassVar[str] = usage.CALLBACK
    decides: ClassVar[bool] = True
    sees_between: ClassVar[bool] = True

    def __init__(self, callback: Callback | None, world: World) -> None:
        """Only rank 0 needs a `callback`."""
        self._callback, self._world = callback, world

    def decide(self, progress: Progress) -> str | None:
        is_over = self._world.from_first(lambda: self._requests_end(progress))
        return _ENDED_BY_CALLBACK if is_over else None

    def _requests_end(self, progress: Progress) -> bool:
        """Call the function; return whether it returned True.

        Other true values do not count: functions of libraries return values of many types.
        """
        assert self._callback is not None
        try:
            value = self._callback(progress)
        except SystemExit as error:
            if is_of_signal(error):
                raise
            raise RunError(
                f"callback= called sys.exit({error.code!r}), which would end the run without a"
                " result. To end the run, return True"
            ) from error
        return isinstance(value, bool | np.bool_) and bool(value)
