"""Write the files of a new or resumed run, except its log; restore the checkpoint."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import islands
from islands.archipelago.archipelago import Archipelago
from islands.configuration.identity import identity, part_versions
from islands.configuration.resolved import Resolved
from islands.configuration.spec import RunSpec
from islands.inside import inside
from islands.parallel import World
from islands.paths import writing
from islands.progress.progress import Epoch
from islands.progress.result import Result
from islands.record.checkpoint import (
    Checkpoints,
    newest_first,
    next_start,
    remove_obsolete,
    remove_streams,
    start_of,
)
from islands.record.folder import FINISHED, MIGRATIONS, TRACE, remove_unpublished
from islands.record.inputs import store_parts, stored_signature, write_settings
from islands.record.provenance import versions
from islands.record.records import kinds_of
from islands.record.restore import Losses, Origin, restore, set_aside
from islands.record.solution import write_solution
from islands.record.stream import rank_and_start


class Journal:
    """Writes the records, checkpoints and solution; all methods are collective."""

    def __init__(
        self,
        folder: Path,
        resolved: Resolved,
        world: World,
        archipelago: Archipelago,
        say: Callable[[str], None],
        *,
        resumes: bool,
    ) -> None:
        """Open the folder; if the run `resumes`, restore a checkpoint."""
        self.folder, self._resolved, self._world = folder, resolved, world
        self._run = identity(resolved)
        origin: Origin | None = None
        if resumes:
            origin = restore(folder, resolved, self._run, world, archipelago, say)
        self.origin = origin.moment if origin is not None else None
        self._start = start = world.from_first(lambda: next_start(folder))
        losses = origin.losses if origin is not None else {}
        world.run_on_all(lambda: self._prepare(losses, resumes=resumes))
        earlier = origin.earlier if origin is not None else {}
        kinds, problem = kinds_of(resolved.spec), resolved.problem
        self._records = world.run_on_all(
            lambda: [
                kind(folder, world.rank, start, problem, earlier.get(kind.folder), self._run)
                for kind in kinds
            ]
        )
        resumed_from = origin.name if origin is not None else None
        self.checkpoints = Checkpoints(
            folder, self._run, world, archipelago, self._records, start, resumed_from
        )

    def _prepare(self, losses: Losses, *, resumes: bool) -> None:
        """Remove the solution, temporary files, and streams that no checkpoint needs.

        Write the settings of a resumed run, which may have changed; a new run has written them.
        """
        if self._world.rank == 0:
            with writing(self.folder):
                set_aside(losses)
                (self.folder / FINISHED).unlink(missing_ok=True)
                remove_unpublished(self.folder)
                remove_streams(self.folder, {*map(start_of, newest_first(self.folder))})
            if resumes:
                signature = stored_signature(self.folder)
                write_settings(self.folder, self._resolved.spec, self._run, signature)
                store_parts(self.folder, part_versions(self._resolved))

    def epoch(self, epoch: Epoch) -> None:
        """Add an epoch to the records."""
        for record in self._records:
            record.add(epoch)

    def finish(self, result: Result) -> None:
        """Write the final files, the solution last, and remove temporary ones."""
        self._world.run_on_all(lambda: self._publish(result))
        self._world.from_first(lambda: self._complete(result))

    def _publish(self, result: Result) -> None:
        with writing(self.folder):
            for record in self._records:
                record.publish(_metadata(self._resolved.spec, result))

    def _complete(self, result: Result) -> None:
        with writing(self.folder):
            self._remove_other_ranks(result.ranks)
            self._write_solution(result)
            remove_obsolete(self.folder, self._start)

    def amend(self, result: Result) -> None:
        """Write the solution of a finished run again, with results computed after the search."""
        self._world.from_first(lambda: self._write_solution(result))

    def _write_solution(self, result: Result) -> None:
        metadata = _metadata(self._resolved.spec, result)
        metadata |= {"islands.run": self._run, "islands.start": str(self._start)}
        write_solution(self.folder, self._resolved.problem, result, metadata)

    def _remove_other_ranks(self, ranks: int) -> None:
        """Remove the Parquet files of an earlier start that had more ranks."""
        for name in (TRACE, MIGRATIONS):
            for path in inside(self.folder, name).glob("rank-*.parquet"):
                numbers = rank_and_start(path.name)
                if numbers is not None and numbers[0] >= ranks:
                    path.unlink(missing_ok=True)


def _metadata(spec: RunSpec, result: Result) -> dict[str, str]:
    """Return the metadata of the Parquet files; all keys begin with `islands.`."""
    facts = result.to_mapping()
    del facts["solution"]
    return {
        "islands.settings": spec.to_toml(),
        "islands.result": json.dumps(facts),
        "islands.date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
        "islands.versions": json.dumps({"islands": islands.__version__, **versions()}),
        "islands.device": result.device,
        "islands.seed": str(result.seed),
        "islands.digest": result.digest,
        "islands.reason": result.reason,
    }
