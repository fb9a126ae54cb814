"""Solve many problems in one call, several at a time, with the same results as `solve`.

Similar problems share the launches of a device: see islands/engine/scheduler.py.
"""

from __future__ import annotations  # docs/keywords.py copies them as text

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple, Unpack

from islands.backends import is_gpu
from islands.calls import explained, is_whole
from islands.configuration.defaults import STOP_OF_MANY
from islands.configuration.keywords import of_keywords
from islands.configuration.request import Request
from islands.configuration.spec import GeneralSettings
from islands.custom.scripts import Trust, reject_while_importing
from islands.custom.trust import lasting, signed_scripts, trust_files, within
from islands.engine.plan import Plan, Ready
from islands.engine.scheduler import Scheduler
from islands.engine.shared import VisitRecords
from islands.engine.workers import solving_devices
from islands.errors import IslandsError, UsageError
from islands.keywords import ManyKeywords, SolveManyKeywords
from islands.parallel import World
from islands.parallel import world as launched_world
from islands.problems import problem_of
from islands.problems.base import Problem
from islands.problems.batches import Batch, as_problems
from islands.progress.result import Result
from islands.solver import DEFAULT_SEED, draw, page, require_function, seed_for, split_start
from islands.text import shown
from islands.untrusted import followed

_SINGLE_RUN_SETTINGS = {
    "out": "Results are returned; the command `islands run --batch` writes files",
    "verbose": "The command `islands run --batch` shows the progress",
    "session": "Each thread has a device of its own",
}


class _Run(NamedTuple):
    """One run of a problem."""

    number: int
    """The index of its result."""
    problem: Callable[[], Any]
    """Returns the problem; each problem of a batch is created only by the rank that solves it."""
    seed: int | None


@explained
def solve_many(problems: Iterable[Any], **settings: Unpack[SolveManyKeywords]) -> list[Result]:
    """Solve many problems, several at a time; return their results in order.

    >>> tours = np.random.default_rng(4).random((5, 12, 2)) * 1000
    >>> [len(result.solution) for result in islands.solve_many(tours, seed=4)]
    [12, 12, 12, 12, 12]

    `problems` is any iterable of what `solve` takes, or an array of shape (B, n, 2) for tours, or
    (B, n, n) for tours with matrices of distances; `tsp_batch`, `qap_batch` and `mkp_batch` create
    the problems from other arrays.

    `settings` are those of `solve`, the same for all problems; `seed=None` draws one seed for all
    of them, and `seeds` has one seed for each problem. `runs=R` solves each problem R times, with
    consecutive seeds; the R results of a problem follow one another.

    `threads` is the number of problems that are solved at a time on a CPU, each by one thread; by
    default, all cores. On a GPU, problems of a kind share launches until the device is full, and
    `threads` is the number of kinds at a time: by default up to four, at most 16.

    Without stopping criteria, a run ends when its search has converged, or after 10 s; `reason`
    tells which. Each result equals that of `solve` with the same settings, bit for bit, unless a
    time limit has ended the run. Under MPI, call this on every rank: the ranks share the work, and
    all of them return all results.
    """
    results = dict(iter_many(problems, **settings))
    return [results[index] for index in range(len(results))]


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

    Only the problems in progress are in memory, if `problems` creates them one by one.

    >>> tours = islands.tsp_batch(np.random.default_rng(4).random((3, 12, 2)) * 1000)
    >>> sorted(index for index, result in islands.iter_many(tours, generations=5))
    [0, 1, 2]
    """
    reject_while_importing("islands.iter_many")
    for name, alternative in _SINGLE_RUN_SETTINGS.items():
        if settings.get(name):
            raise UsageError(f"{name}: is for a single problem. {alternative}")
    if seed is not None and seed is not DEFAULT_SEED and seeds is not None:
        raise UsageError("seed and seeds: give one of them, a seed for all or a list")
    if not is_whole(runs) or runs < 1:
        raise UsageError(f"runs={shown(runs)}: must be a whole number of at least 1")
    require_function(callback)
    others = dict[str, Any](settings)
    by_user, share = bool(others.pop("trust", False)), bool(others.pop("share_gpu", False))
    files, start = split_start(others.pop("start", None))
    others |= {"start": files or None, "backend": "cpu", "threads": 1}
    if on_gpu := is_gpu(backend):
        others |= {"backend": "cuda", "threads": None}
    trust, ranks = Trust(), world if world is not None else launched_world()
    with within(trust):
        request = of_keywords({}, **others)
        trust_files(signed_scripts(request.config, followed, by_user=by_user))
        # Each problem is solved on one GPU, even if there are several.
        one = {"sized_for_gpus": 1} if on_gpu else {}
        request = request.filled({"stop": STOP_OF_MANY, **one})
    first = seed_for(seed, ranks)
    if first is None and runs > 1:
        first = request.seed
    cells = _runs(as_problems(problems), first, seeds, int(runs))
    count = GeneralSettings.converted("threads", threads or 0) or None
    plan = _Many(request, start, callback, trust, sends=ranks.size > 1)

    def results() -> Iterator[tuple[int, Result]]:
        with lasting(trust), solving_devices(ranks, backend, count, share_gpu=share) as devices:
            for run, result in Scheduler(plan, devices, ranks).run([cell] for cell in cells):
                if isinstance(result, IslandsError):
                    result.args = (f"problems[{run.number // int(runs)}]: {result}",)
                    raise result
                yield run.number, result

    return results()


def _runs(
    problems: Iterable[Any], seed: int | None, seeds: Iterable[int] | None, runs: int
) -> Iterator[_Run]:
    """Yield the runs in order; reject more or fewer seeds than problems."""
    given = None if seeds is None else iter(seeds)
    for position, problem in enumerate(_sources(problems)):
        first = seed if given is None else next(given, None)
        if given is not None and first is None:
            raise UsageError(
                f"seeds: has {position}, but there are more problems. Give one for each problem"
            )
        for run in range(runs):
            yield _Run(position * runs + run, problem, None if first is None else first + run)
    if given is not None and next(given, None) is not None:
        raise UsageError("seeds: has more than there are problems. Give one for each problem")


def _sources(problems: Iterable[Any]) -> Iterator[Callable[[], Any]]:
    """Yield functions that return the problems, and create each problem once."""
    if type(problems) is Batch:
        yield from (cache(partial(problems.__getitem__, k)) for k in range(len(problems)))
    else:
        yield from (partial(_itself, problem) for problem in problems)


def _itself(problem: Any) -> Any:
    return problem


class _Many(Plan[_Run]):
    """The runs of a call, which all have the same settings."""

    trust: Trust

    def __init__(
        self, request: Request, start: list[Any], callback: Any, trust: Trust, *, sends: bool
    ) -> None:
        self._request, self.start, self.trust, self._sends = request, start, trust, sends
        self.callback, self.shares = callback, callback is None

    def request(self, cell: _Run) -> tuple[Request, Problem | None]:
        """Return the request that `solve` would make for this run."""
        name, problem = problem_of(cell.problem(), "solve")
        seed = {} if cell.seed is None else {"seed": cell.seed}
        return self._request.also({"instance": name, **seed}), problem

    def value_of(self, ready: Ready[_Run], result: Result) -> Result | IslandsError:
        """Return the result, or the error if `solve` would raise one."""
        if result.cost is None and not (result.violation > 0 or result.interrupted):
            return result.without_solution(ready.problem.words.infeasible_fix)
        records = result.records if self._sends else None
        if isinstance(records, VisitRecords) and isinstance(ready.cell.problem(), Problem):
            records.drop_problem()
        return result.shown_by(draw, page)

    def received(self, cell: _Run, value: Any) -> Any:
        """Return a result whose records create their problem again when it is needed."""
        if isinstance(value, Result) and isinstance(value.records, VisitRecords):
            value.records.restore_problem(cell.problem)
        return value
