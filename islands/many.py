"""Many instances in one call: each is solved as by `solve`, several at a time.

Those of the same size and kind share the launches of a device: see islands/run/queue.py.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from islands.backends import takes_gpu
from islands.backends.cpu import share_of_cores
from islands.calls import explained, is_whole
from islands.campaign.batch import DEFAULT_STOP
from islands.campaign.dealing import solved_by_ranks
from islands.campaign.workers import Workers, streams
from islands.configuration.given import combined, layers
from islands.configuration.resolve import seed_of
from islands.configuration.spec import GeneralSettings
from islands.configuration.stop import KEYWORDS, stop_texts
from islands.custom.scripts import Trust, refuse_while_importing
from islands.custom.trust import lasting, signed_scripts, trust_files, within
from islands.errors import IslandsError, UsageError
from islands.keywords import ManyKeywords, SolveManyKeywords
from islands.parallel import World
from islands.parallel import world as launched_world
from islands.problems import taken
from islands.problems.batches import Batch, as_problems
from islands.progress.progress import Progress
from islands.progress.result import Result
from islands.run.preparing import Preparing, Wanted
from islands.run.queue import Queue
from islands.run.waiting import Waiting
from islands.solver import DEFAULT_SEED, Session, draw, drawn, on_streams, options_of, page
from islands.text import shown
from islands.untrusted import followed

_OF_A_RUN = {
    "out": "Results are returned; the command `islands run --batch` writes files",
    "verbose": "The command `islands run --batch` shows the progress",
    "session": "Each thread has a device of its own",
}

_NAMED = ("algorithm", "encoding", "preset", "stop", "islands", "population")
_ALONE = ("config", "start", "bound")
"""The settings of problems that are solved alone."""


class _Task(NamedTuple):
    """One solution of a problem."""

    number: int
    """The number of its result."""
    problem: Callable[[], Any]
    """Returns the problem: only the rank that solves it makes one of a batch."""
    seed: int | None


@explained
def solve_many(problems: Iterable[Any], **settings: Unpack[SolveManyKeywords]) -> list[Result]:
    """Solve many problems, several at a time; return their results in order.

    >>> tours = np.random.default_rng(4).random((5, 12, 2)) * 1000
    >>> [len(each.solution) for each in islands.solve_many(tours, seed=4)]
    [12, 12, 12, 12, 12]

    `problems` is any iterable of what `solve` takes, or an array of shape (B, n, 2) for tours, or
    (B, n, n) for tours with matrices of distances; `tsp_batch`, `qap_batch` and `mkp_batch` make
    the problems of other arrays.

    `settings` are those of `solve`, for all problems alike; `seed=None` draws one for all of them.
    `seeds` has one seed for each problem.
    `runs=R` solves each problem R times, with consecutive seeds: the R results of a problem follow
    one another. `threads` is the number of problems that are solved at a time on a CPU, each by one
    thread; by default, all cores. A GPU solves as many problems of a kind at a time as fill it, and
    `threads` kinds; by default up to four, at most 16.

    A problem without a criterion to stop ends when its search has converged, or after 10 s:
    `reason` says which. Each result is the one that `solve` returns with the same settings, bit for
    bit, unless time has ended it. Under MPI, call this on every rank: the ranks share the work, and
    each gets all results.
    """
    found = dict(iter_many(problems, **settings))
    return [found[index] for index in range(len(found))]


@explained
def iter_many(
    problems: Iterable[Any],
    *,
    seed: int | None = DEFAULT_SEED,
    seeds: Iterable[int] | None = None,
    runs: int = 1,
    backend: str = "auto",
    threads: int | None = None,
    callback: Any = None,
    world: World | None = None,
    **settings: Unpack[ManyKeywords],
) -> Iterator[tuple[int, Result]]:
    """Yield the index and the result of each problem as soon as it is solved; see `solve_many`.

    Only the problems in progress are in memory, if `problems` makes them one by one.

    >>> tours = islands.tsp_batch(np.random.default_rng(4).random((3, 12, 2)) * 1000)
    >>> sorted(index for index, result in islands.iter_many(tours, generations=5))
    [0, 1, 2]
    """
    refuse_while_importing("islands.iter_many")
    for name, words in _OF_A_RUN.items():
        if settings.get(name):
            raise UsageError(f"{name}: many problems cannot have it. {words}")
    if seed is not None and seed is not DEFAULT_SEED and seeds is not None:
        raise UsageError("seed and seeds: give one of them, a seed for all or a list")
    if not is_whole(runs) or runs < 1:
        raise UsageError(f"runs={shown(runs)}: must be a whole number of at least 1")
    config, preset = settings.get("config"), settings.get("preset")
    configured = None if config is None else Path(config)
    trust = Trust()
    with within(trust):
        if settings.pop("trust", False):
            trust_files(signed_scripts(configured, followed, by_user=True))
        sources = layers({} if preset is None else {"preset": preset}, configured)
    is_given = any(settings.get(each) is not None for each in ("stop", *KEYWORDS))
    if not is_given and "stop" not in combined(sources):
        settings["stop"] = list(DEFAULT_STOP)
    ranks = world if world is not None else launched_world()
    first = drawn(seed, ranks)
    if first is None and runs > 1:
        first = seed_of(sources)
    tasks = _tasks(as_problems(problems), first, seeds, int(runs))
    return _solved(tasks, int(runs), ranks, backend, threads, callback, dict(settings), trust)


def _tasks(
    problems: Iterable[Any], seed: int | None, seeds: Iterable[int] | None, runs: int
) -> Iterator[_Task]:
    """Yield the tasks in order, without a seed for the default; refuse fewer or more seeds."""
    given = None if seeds is None else iter(seeds)
    index = 0
    for number, problem in enumerate(_sources(problems)):
        first = seed
        if given is not None:
            first = next(given, None)
            if first is None:
                raise UsageError(
                    f"seeds: has {number}, fewer than problems. Give one for each problem"
                )
        for run in range(runs):
            yield _Task(index, problem, None if first is None else first + run)
            index += 1
    if given is not None and next(given, None) is not None:
        raise UsageError("seeds: has more than there are problems. Give one for each problem")


def _sources(problems: Iterable[Any]) -> Iterator[Callable[[], Any]]:
    """Yield a function for each problem, which returns it, and makes it once."""
    if type(problems) is Batch:
        yield from (cache(partial(problems.__getitem__, k)) for k in range(len(problems)))
    else:
        yield from (partial(_itself, problem) for problem in problems)


def _itself(problem: Any) -> Any:
    return problem


def _solved(
    tasks: Iterator[_Task],
    runs: int,
    ranks: World,
    backend: str,
    threads: int | None,
    callback: Any,
    settings: dict[str, Any],
    trust: Trust,
) -> Iterator[tuple[int, Result]]:
    on_gpu = takes_gpu(backend)
    threads = GeneralSettings.converted("threads", threads or 0)
    share = bool(settings.pop("share_gpu", False))
    if on_gpu:
        settings.setdefault("gpus", 1)  # each problem is solved on one
    with ExitStack() as stack:
        stack.enter_context(lasting(trust))
        if on_gpu:
            # All ranks of a host choose their GPUs together, but each solves alone.
            first = Session(backend="cuda", world=ranks, share_gpu=share)
            first.world = World()
            sessions = on_streams(stack.enter_context(first), streams(threads))
        else:
            count = threads or share_of_cores(ranks.local_size)
            made = (Session(backend="cpu", threads=1, world=World()) for _ in range(count))
            sessions = [stack.enter_context(each) for each in made]
        pool = Workers(sessions, on_gpu=on_gpu)
        solver = _Solver(settings, callback, pool, trust)

        def done(
            tasks: Iterable[_Task | None], is_over: Callable[[], bool] | None = None
        ) -> Generator[tuple[int, Result] | None, None, None]:
            for each in pool.stream(tasks, solver.solving, is_over):
                if each is None:
                    yield None
                    continue
                task, found = each
                if isinstance(found, IslandsError):
                    found.args = (f"problems[{task.number // runs}]: {found}",)
                    raise found
                yield task.number, found

        def more(count: int) -> tuple[list[_Task], bool]:
            further = list(islice(tasks, count))
            return further, len(further) < count

        if ranks.size == 1:
            yield from filter(None, done(tasks))
            return
        own = partial(done, is_over=lambda: False)
        for whole in solved_by_ranks(ranks, more, own, pool.ahead):
            yield from whole


class _Solver:
    """Solves problems on a device: those that are alike share launches, others are solved alone."""

    def __init__(
        self, settings: dict[str, Any], callback: Any, pool: Workers[Session], trust: Trust
    ) -> None:
        self._settings, self._callback, self._pool = settings, callback, pool
        self._trust = trust
        is_alone = callback is not None or any(settings.get(name) for name in _ALONE)
        self._shares = not is_alone

    def solving(
        self, session: Session, tasks: Iterator[_Task | None]
    ) -> Callable[[Session], Iterator[tuple[_Task, Result | IslandsError]]]:
        """Return the function that yields each task with its result as it ends, or its error."""
        given = dict(self._settings)
        criteria = {name: given.pop(name, None) for name in KEYWORDS}
        given["stop"] = stop_texts(given.pop("stop", None), criteria)
        own = {"backend": session.backend, "threads": session.threads or None}
        named = {name: given.pop(name, None) for name in _NAMED}

        def options(wanted: Wanted) -> dict[str, Any]:
            instance = {"instance": wanted.name, "seed": wanted.seed}
            with within(self._trust):
                return options_of({**named, **own, **instance}, given)

        preparing = Preparing(session.device, options)

        def prepare(task: _Task) -> Waiting[_Task] | None:
            if not self._shares:
                return None
            with within(self._trust):
                name, made = taken(task.problem(), "solve")
            return preparing.waiting(task, Wanted(name, made, task.seed))

        queue = Queue(tasks, prepare, self._pool.ends.is_set, self._pool.together)
        return partial(self._results, queue)

    def _results(
        self, queue: Queue[_Task], session: Session
    ) -> Iterator[tuple[_Task, Result | IslandsError]]:
        session.device.begin_run()  # in this thread
        for task, found in queue.results(session.device, partial(self._alone, session)):
            if isinstance(found, IslandsError) or found.draw is not None:
                yield task, found
            elif found.cost is None and found.violation == 0:
                yield task, found.without_solution(getattr(task.problem(), "hint", ""))
            else:
                yield task, found.shown_by(draw, page)

    def _alone(self, session: Session, task: _Task) -> Result:
        own = self._settings if task.seed is None else self._settings | {"seed": task.seed}
        return session.solve(task.problem(), callback=self._ends, **own)

    def _ends(self, progress: Progress) -> bool:
        is_last = self._callback is not None and self._callback(progress) is True
        return is_last or self._pool.ends.is_set()
