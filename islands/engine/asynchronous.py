"""The loop of asynchronous ranks: they report to rank 0, which ends the run."""

import time
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.engine.loop import Loop
from islands.parallel import Channel
from islands.progress import usage
from islands.progress.progress import Moment, Outcome, Progress
from islands.progress.tally import StopRequests, Tally

_TAG = 4
_POLL_SECONDS = 0.001


class AsyncLoop(Loop):
    """A loop whose ranks wait for each other at generation 0 and at the end of the run only.

    Ranks count their own generations. Without checkpoints, any signal interrupts the run.
    """

    is_asynchronous: ClassVar[bool] = True
    _channel: Channel | None = None
    """Opened after generation 0; until then, ranks agree as in any run."""
    _rows: NDArray[np.int64]
    """The latest tally and generation of each rank; ranks above 0 only update their own row."""
    _messages: NDArray[np.int64]
    """The rows in flight. Any message from rank 0 means that the run is over."""
    _is_over = False
    """Whether rank 0 has ended the run."""

    def run(self) -> Outcome:
        """Run until rank 0 finds a criterion satisfied, or all ranks reach the last generation."""
        outcome = super().run()
        self._archipelago.finish()
        return outcome

    def _agree(self, local: Tally) -> tuple[Tally, StopRequests]:
        self._local = local
        signals, rank = self._interruption.requested, self._world.rank
        # Only the clock of rank 0 counts: other ranks need not report their time.
        row = local.row(signals, self._seconds() if rank == 0 else 0.0)
        row = np.append(row, self._archipelago.generation)
        if self._channel is None:
            self._rows = self._world.allgather_numbers(row)
            return local.of_rows(self._rows[:, :-1])
        self._rows[rank] = row
        self._share()
        if rank > 0:
            return local, StopRequests(signals, self._seconds())
        return local.of_rows(self._rows[:, :-1])

    def _end(self, progress: Progress, requests: StopRequests, moment: Moment) -> Outcome | None:
        if self._channel is None:
            outcome = self._decision(progress, requests, moment)
            if outcome is None:
                self._channel = self._opened()
            return outcome
        while True:
            decision = None
            if self._world.rank == 0:
                decision = self._decision(progress, requests, moment)
            if self._is_over or decision is not None:
                return self._outcome(decision)
            if self._visits.last is None or self._archipelago.generation < self._visits.last:
                return None
            time.sleep(_POLL_SECONDS)  # until slower ranks have done their generations
            tally, requests = self._agree(self._local)
            progress = self._progress(tally, progress.generation, requests.seconds, self._before)

    def _decision(
        self, progress: Progress, requests: StopRequests, moment: Moment
    ) -> Outcome | None:
        """Return the outcome if the latest numbers of all ranks end the run, or None."""
        slowest = replace(progress, generation=int(self._rows[:, -1].min()))
        outcome = super()._end(slowest, requests, moment)
        if outcome is not None and outcome.suspended:
            return replace(outcome, suspended=False, interrupted=True)
        return outcome

    def _ends_epoch(self, generation: int) -> bool:
        return True  # the last report of a rank may be from inside an epoch

    def _requests(self, *, is_complete: bool = True) -> StopRequests:
        """Return the stop requests known to this rank, without waiting for others."""
        if self._channel is None:
            return super()._requests(is_complete=is_complete)
        self._share()
        signals = self._interruption.requested | int(self._rows[:, 0].any() or self._is_over)
        return StopRequests(signals, self._seconds() if self._world.rank == 0 else 0.0, is_complete)

    def _opened(self) -> Channel:
        """Return the channel between rank 0 and the others, with a row for each of them."""
        self._messages = self._rows.copy()
        rank, others = self._world.rank, range(1, self._world.size)
        if rank == 0:
            sends = dict.fromkeys(others, self._messages[0])
            receives = {other: self._messages[other] for other in others}
        else:
            sends, receives = {0: self._messages[rank]}, {0: self._messages[0]}
        return self._world.channel(_TAG, sends, receives)

    def _share(self) -> None:
        """Receive messages, and report to rank 0 unless the last report is still in flight."""
        assert self._channel is not None, "generation 0 is complete"
        for sender in self._channel.arrived():
            self._rows[sender] = self._messages[sender]
            self._is_over |= sender == 0
            self._channel.listen(sender)
        rank = self._world.rank
        is_new = rank > 0 and (self._messages[rank] != self._rows[rank]).any()
        if is_new and 0 in self._channel.free():
            self._messages[rank] = self._rows[rank]
            self._channel.send(0)

    def _outcome(self, decision: Outcome | None) -> Outcome:
        """Return the outcome with the progress of all ranks; collective."""
        assert self._channel is not None, "generation 0 is complete"
        for other in self._channel.free() if self._world.rank == 0 else ():
            self._channel.send(other)
        self._channel.close()
        decision = self._world.bcast(decision)
        assert decision is not None, "rank 0 has decided"
        rows = self._world.allgather_numbers(self._rows[self._world.rank])
        self.phases.lap(usage.RANKS)
        tally, _ = Tally.of_rows(rows[:, :-1])
        last, seconds = int(rows[:, -1].min()), decision.progress.seconds
        return replace(decision, progress=self._progress(tally, last, seconds, None))
