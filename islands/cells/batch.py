"""Many instances in one command: several at a time, with one line of the store for each run.

A run takes one thread, or shares the GPU of its rank. An instance that cannot be read or solved is
reported, and the batch continues. Results are stored, so that an interrupted batch continues with
the remaining runs. The ranks share the runs, and exchange results after each round. Names of more
instances may arrive while others are solved.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from shlex import quote
from time import perf_counter
from typing import Any, NamedTuple, Self

from islands.backends import is_gpu
from islands.cells.campaign import Campaign
from islands.cells.names import keep_names, keeping, kept_names
from islands.cells.store import DEVICE_SETTINGS, Key, StoredResult, file_sha256, plain
from islands.configuration.defaults import STOP_OF_MANY
from islands.configuration.request import Request
from islands.custom.scripts import is_reference, split_reference
from islands.custom.trust import named_by, require_all
from islands.display.heartbeat import Heartbeat, Work, duration, write_work
from islands.engine.build import RankOptions
from islands.engine.failures import resuming
from islands.engine.loading import load_and_resolve
from islands.engine.plan import Plan, Ready
from islands.engine.scheduler import Scheduler
from islands.engine.signals import INTERRUPT, INTERRUPTED_STATUS, SUSPENDED_STATUS, received
from islands.engine.single import Output
from islands.engine.workers import solving_devices
from islands.errors import InputError, IslandsError, UsageError
from islands.inside import inside
from islands.instances.lines import reading_until
from islands.instances.locate import Finder, split_part
from islands.parallel import World
from islands.paths import publish
from islands.progress.result import Result
from islands.record.files import Row
from islands.record.folder import BATCH_SETTINGS, BATCH_TABLE, FolderKind
from islands.text import counted, gap, one_line
from islands.untrusted import bounded_text, parsing

COLUMNS = ("instance", "seed", "cost", "best_known", "gap", "evaluations", "seconds", "reason")
_BEGAN_IN = "began_in"
"""The key of the folder to which relative paths of instances refer."""
_CONTENT = "content"
"""The key, in the store only, of the digest of the file from which an instance was read."""
_MOST_TRIED = 20
"""Maximum number of instances to try, until one can be read to check the settings."""


class BatchRun(NamedTuple):
    """One run of an instance."""

    instance: str
    seed: int


@dataclass(frozen=True)
class BatchPlan(Plan[BatchRun]):
    """The instances of a batch, and the settings of all of them."""

    instances: Sequence[str]
    runs: int
    base: Request
    is_open: bool = False
    """Whether more instances may arrive."""

    def runs_of(self, instances: Iterable[str]) -> Iterator[BatchRun]:
        """Yield the runs of instances, all of one instance before the next."""
        first = self.base.seed
        return (BatchRun(name, first + run) for name in instances for run in range(self.runs))

    def stored(self) -> dict[str, Any]:
        """Return the plan for JSON, without the instances."""
        config = self.base.config
        return {
            "is_open": self.is_open,
            "runs": self.runs,
            "options": _kept(self.base),
            "config": None if config is None else str(config.absolute()),
            **({} if config is None else {"config_sha256": file_sha256(config)}),
        }

    @classmethod
    def of_folder(cls, folder: Path, device: Request) -> Self:
        """Return the plan of a folder."""
        path = inside(folder, BATCH_SETTINGS)
        with parsing(path):
            kept = json.loads(bounded_text(path))
            options, runs = dict(kept["options"]), kept["runs"]
            if type(runs) is not int or runs < 1:
                raise ValueError(f"runs is {runs!r}")
            config = None if kept["config"] is None else Path(kept["config"])
            if config is not None and config.exists() and not config.is_file():
                raise ValueError(f"config is {kept['config']!r}, not a regular file")
            is_open = bool(kept["is_open"])
            began_in, names = Path(kept.get(_BEGAN_IN, Path.cwd())), kept_names(folder)
        _require_same_paths(folder, began_in, names)
        with named_by(f"{path}: "):
            request = Request.of(options, config)
            _ = request.sources  # rejects scripts that this file names
        return cls(names, runs, request.also(device.options), is_open)

    def request(self, cell: BatchRun) -> tuple[Request, None]:
        """Return the request of a run, without its problem, which is read when the run begins."""
        options: dict[str, Any] = {**cell._asdict(), "threads": 1}
        return self.base.filled({"stop": [*STOP_OF_MANY]}).also(options), None

    def key(self, cell: BatchRun) -> Key:
        """Return the key of a run in the store, which determines the result."""
        request, _ = self.request(cell)
        return {**cell._asdict(), "settings": plain(_kept(request))}

    def value_of(self, ready: Ready[BatchRun], result: Result) -> StoredResult:
        """Return a result as it is stored; this form is also faster to send to other ranks."""
        return plain(result.to_mapping())

    def require_possible(self) -> None:
        """Reject untrusted scripts, and invalid settings, before the first instance is solved."""
        require_all(self.instances, "the list of instances ")
        for name in islice(self.instances, _MOST_TRIED):
            try:
                load_and_resolve(*self.request(BatchRun(name, self.base.seed)))
            except InputError:
                continue  # is reported when its turn comes
            return

    def reject_other(self, folder: Path, *, force: bool) -> None:
        """Reject a folder with another batch, unless it is to be overwritten."""
        path = folder / BATCH_SETTINGS
        if force or not path.exists():
            return
        with parsing(path):
            kept = json.loads(bounded_text(path))
            began_in = Path(kept.pop(_BEGAN_IN, Path.cwd()))
        is_same = kept == plain(self.stored())
        if not is_same or not (self.is_open or kept_names(folder) == [*self.instances]):
            raise UsageError(
                f"--out {folder}: contains a batch of other instances or settings. Specify another"
                " folder, or pass --force to overwrite it"
            )
        _require_same_paths(folder, began_in, [*kept_names(folder), *self.instances])


def _require_same_paths(folder: Path, began_in: Path, names: Iterable[str]) -> None:
    """Reject names of files that are relative to another folder, in which the batch began."""
    if began_in != Path.cwd():
        for name in names:
            script, colon, _ = name.rpartition(".py:")
            path = began_in / (f"{script}.py" if colon else split_part(Path(name))[0])
            if not Path(name).is_absolute() and os.path.isfile(path):  # noqa: PTH113, as it raises nothing
                raise UsageError(
                    f"{folder}: {name} is relative to {began_in}, where the batch began. Continue"
                    f" it there: cd {quote(str(began_in))}; {resuming(folder.absolute())}"
                )


@dataclass
class BatchEnd:
    """How a batch ended."""

    folder: Path
    count: int = 0
    """The number of runs so far; those of names that arrive later are only counted on rank 0."""
    done: int = 0
    failed: int = 0
    ended_by: int = 0
    """The signals that ended it."""

    @property
    def status(self) -> int:
        """The exit status of the command."""
        if self.ended_by:
            return INTERRUPTED_STATUS if self.ended_by & INTERRUPT else SUSPENDED_STATUS
        return 1 if self.failed else 0


def run_batch(
    plan: BatchPlan,
    world: World,
    output: Output,
    rank_options: RankOptions,
    *,
    lines: Callable[[StoredResult], None] | None = None,
    arriving: Iterator[str | None] | None = None,
) -> BatchEnd:
    """Perform the runs that the folder lacks, and return how the batch ended; collective.

    On rank 0, `lines` receives each result, including stored ones, and `arriving` yields instances
    of an open plan as they arrive, and None while there is none.
    """
    stream = output.stream if world.rank == 0 else None
    heartbeat = Heartbeat(None if output.quiet else stream, "batch")
    campaign = Campaign(world, heartbeat, FolderKind.BATCH)
    reject = partial(plan.reject_other, force=output.force)
    with campaign.receiving_signals("batch"), reading_until(lambda: received() != 0):
        world.run_on_all(plan.require_possible)
        with campaign.opened(output.folder, "batch", reject, force=output.force) as folder:
            batch = _Batch(plan, campaign, output, folder, lines if world.rank == 0 else None)
            return batch.perform(rank_options, arriving)


@dataclass
class _Batch:
    """Performs the runs and shows the progress."""

    plan: BatchPlan
    campaign: Campaign
    output: Output
    folder: Path
    lines: Callable[[StoredResult], None] | None

    def __post_init__(self) -> None:
        self._world = self.campaign.world
        self._end, self._is_open = BatchEnd(self.folder), False
        self._began, self._new, self._running = perf_counter(), 0, 0
        self._finder, self._digests = Finder(), dict[BatchRun, str]()

    def perform(self, rank_options: RankOptions, arriving: Iterator[str | None] | None) -> BatchEnd:
        """Perform the remaining runs; return how the batch ended."""
        names = self._world.from_first(self._write_request)
        self._end.count = count = self.plan.runs * len(names)
        done = self._world.from_first(lambda: self._show_known(names))
        self._end.done, self._is_open = len(done), arriving is not None
        if not self.output.quiet:
            more = ", and more as names arrive" if self._is_open else ""
            words = f"{count - len(done)} of {counted(count, 'run')} left{more}"
            self._print(f"{words}, in {self.folder}")
        # A generator: a batch may have more runs than fit into memory.
        left = (run for run in self.plan.runs_of(names) if run not in done)
        self._began = perf_counter()
        self._report()
        with closing(keeping(arriving or (), self.folder, names)) as later:
            for run, result in self._results(chain(left, self._of_names(later)), rank_options):
                self._take(run, result)
        self._conclude()
        return self._end

    def _write_request(self) -> list[str]:
        """Write the request and the known names; return all instances so far."""
        plan, folder, names = self.plan, self.folder, [*self.plan.instances]
        if plan.is_open and not self.output.force:
            names = [*dict.fromkeys([*kept_names(folder), *names])]
        keep_names(folder, names)
        stored = {**plan.stored(), _BEGAN_IN: str(Path.cwd())}
        publish(inside(folder, BATCH_SETTINGS), json.dumps(stored) + "\n")
        self.campaign.store.tabulate(folder / BATCH_TABLE, COLUMNS, _row)
        return names

    def _show_known(self, names: Iterable[str]) -> set[BatchRun]:
        """Show the results in the folder, and return their runs; a signal stops this early."""
        store, done = self.campaign.store, set[BatchRun]()
        left = len(store)
        for run in self.plan.runs_of(names):
            if left == 0 or received():
                break
            if (result := store.known(self.plan.key(run))) is not None:
                left -= 1
                done.add(run)
                self._require_unchanged(run, result.pop(_CONTENT, None))
                if self.lines is not None:
                    self.lines(result)
        return done

    def _require_unchanged(self, run: BatchRun, content: str | None) -> None:
        """Reject a result of an instance whose file has changed since it was read."""
        # Files may be gone, and reading the folders again for each of them would take minutes.
        if content and self._content(run.instance, refresh=False) not in ("", content):
            raise UsageError(
                f"{self.folder}: contains the result of {run.instance}, whose file has changed"
                " since. Restore the file, or solve the batch in another folder"
            )

    def _content(self, instance: str, *, refresh: bool = True) -> str:
        """Return the digest of the file of an instance, or an empty string if there is none."""
        try:
            if is_reference(instance):
                return file_sha256(split_reference(instance)[0])
            return file_sha256(self._finder.find(instance, refresh=refresh).file())
        except IslandsError:
            return ""

    def _of_names(self, names: Iterable[str | None]) -> Iterator[BatchRun | None]:
        """Yield the runs of arriving names, and None when none has arrived."""
        for name in names:
            self._end.count += 0 if name is None else self.plan.runs
            yield from [None] if name is None else self.plan.runs_of([name])
        self._is_open = False

    def _with_digests(self, runs: Iterable[BatchRun | None]) -> Iterator[BatchRun | None]:
        """Yield the runs, after computing the digests of their files: a file may change later."""
        for run in runs:
            if run is not None and self._world.rank == 0:
                self._digests[run] = self._content(run.instance)
            yield run

    def _results(
        self, runs: Iterable[BatchRun | None], rank_options: RankOptions
    ) -> Iterator[tuple[BatchRun, StoredResult | IslandsError]]:
        """Yield the runs with their results, on all ranks, until a signal arrives."""
        plan, world = self.plan, self._world
        options = plan.base.options
        name, threads = str(options.get("backend", "auto")), int(options.get("threads", 0))
        share = rank_options.share_gpu
        with solving_devices(world, name, threads or None, share_gpu=share) as devices:
            scheduler = Scheduler(plan, devices, world)
            # The number of runs in progress on a GPU is unknown here.
            self._running = sum(world.allgather(0 if is_gpu(name) else scheduler.count))
            # Only rank 0 knows the names that arrive.
            groups = (None if run is None else [run] for run in self._with_digests(runs))
            yield from scheduler.run(groups, lambda: received() != 0, from_first=True)
        self._end.ended_by = self.campaign.received()

    def _take(self, run: BatchRun, result: StoredResult | IslandsError) -> None:
        end, digest = self._end, self._digests.pop(run, "")
        if isinstance(result, IslandsError):
            end.failed += 1
            self._print(f"islands: {one_line(run.instance)}: {result}")
        else:
            end.done += 1
            if self._world.rank == 0:
                stored = {**result, _CONTENT: digest}
                self.campaign.store.add(self.plan.key(run), stored)
            if self.lines is not None:
                self.lines(result)
            elif not self.output.quiet:
                self._print(_words(result))
        self._new += 1
        self._report()

    def _report(self) -> None:
        self.campaign.heartbeat.report(self._end.done, self._end.count, self._state())

    def _state(self) -> str:
        end, seconds = self._end, perf_counter() - self._began
        left = end.count - end.done - end.failed
        words = [f"{end.done} of {end.count} done"]
        words += [f"{end.failed} failed"] if end.failed else []
        words += [f"{min(left, self._running)} running"] if left and self._running else []
        if self._is_open:
            words.append("more may come")
        if self._new and seconds > 0:
            words.append(f"{self._new / seconds:.3g} a second")
            words += [f"about {duration(max(1, left * seconds / self._new))} left"] if left else []
        return ", ".join(words)

    def _conclude(self) -> None:
        end, state = self._end, self._state()
        self._print(f"batch: {state}")
        if not end.ended_by:
            self.campaign.end_work()
        elif self._world.rank == 0:
            write_work(self.folder, Work(end.done, end.count, state, ""))
        if end.ended_by or end.failed:
            self._print(f"To continue with the rest: {resuming(self.folder)}")
        self._print(f"Wrote {self.folder}: {BATCH_TABLE}, and all results in runs.jsonl")

    def _print(self, text: str) -> None:
        with suppress(OSError, ValueError):
            self.campaign.print(text, self.output.stream)


def _kept(request: Request) -> dict[str, Any]:
    """Return the options that affect results."""
    return {k: v for k, v in request.options.items() if k not in DEVICE_SETTINGS}


def _row(_: Key, result: StoredResult) -> Row:
    return {
        name: "" if result.get(name) is None else one_line(str(result[name])) for name in COLUMNS
    }


def _words(result: StoredResult) -> str:
    cost = "no feasible solution" if result["cost"] is None else f"{result['cost']}"
    known = "" if result["gap"] is None else f", gap {gap(result['gap'])}"
    name, seed, seconds = result["instance"], result["seed"], result["seconds"]
    return f"{one_line(name)} seed {seed}: {cost}{known}, {seconds:.2f} s"
