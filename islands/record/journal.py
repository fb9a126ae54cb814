"""Everything that one start of a run writes apart from its log; resumes from a checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from islands.archipelago.archipelago import Archipelago
from islands.parallel import World
from islands.paths import writing
from islands.problems.base import Problem
from islands.progress.progress import Epoch, Moment
from islands.progress.result import Result
from islands.record.checkpoint import (
    Checkpoints,
    newest_first,
    next_start,
    remove_obsolete,
    remove_streams,
    start_of,
)
from islands.record.earlier import Losses, set_aside
from islands.record.folder import FINISHED, remove_unpublished
from islands.record.origin import Origin, restore
from islands.record.parts import store_parts
from islands.record.recorder import Recorder
from islands.record.settings_file import write_settings
from islands.spec.agreement import identity
from islands.spec.own import traits
from islands.spec.spec import RunSpec


class Journal:
    """Writes the records, checkpoints and solution; call each method on all ranks."""

    def __init__(
        self,
        folder: Path,
        spec: RunSpec,
        problem: Problem,
        world: World,
        archipelago: Archipelago,
        say: Callable[[str], None],
        *,
        goes_on: bool,
    ) -> None:
        """Open the folder; if `goes_on`, restore the archipelago from a checkpoint."""
        self.folder, self._world = folder, world
        run = identity(spec, problem)
        origin: Origin | None = None
        if goes_on:
            origin = restore(folder, spec, problem, run, world, archipelago, say)
        self.origin = origin.moment if origin is not None else None
        self._start = start = world.bcast(next_start(folder) if world.rank == 0 else 0)
        losses = origin.losses if origin is not None else {}
        world.agreed(lambda: self._prepare(spec, problem, losses))
        earlier = origin.earlier if origin is not None else {}
        self._recorder = world.agreed(
            lambda: Recorder(folder, spec, problem, world.rank, start, earlier)
        )
        self._checkpoints = Checkpoints(
            folder, run, world, archipelago, start, origin.name if origin is not None else None
        )

    def _prepare(self, spec: RunSpec, problem: Problem, losses: Losses) -> None:
        """Remove all files that the checkpoints do not need, and the mark of a finished run."""
        if self._world.rank == 0:
            with writing(self.folder):
                set_aside(losses)
                (self.folder / FINISHED).unlink(missing_ok=True)
                remove_unpublished(self.folder)
                remove_streams(self.folder, {*map(start_of, newest_first(self.folder))})
            write_settings(self.folder, spec)
            store_parts(self.folder, traits(spec.to_mapping(), problem))

    def epoch(self, epoch: Epoch) -> None:
        """Add an epoch to the records."""
        self._recorder.epoch(epoch)

    def keep(self, moment: Moment) -> None:
        """Write a checkpoint."""
        self._checkpoints.keep(moment, self._recorder.extents)

    def finish(self, result: Result) -> None:
        """Write the final files, the solution last, and remove temporary ones."""
        self._recorder.publish(result)
        self._world.barrier()
        if self._world.rank == 0:
            self._recorder.finish(result)
            remove_obsolete(self.folder, self._start)
