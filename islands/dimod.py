"""A sampler with the interface of D-Wave's `dimod`: `from islands.dimod import Sampler`.

It needs `pip install 'islands[dimod]'`. It can be used wherever dimod expects a sampler.
"""

import hashlib
import math
import time
from collections.abc import Callable, Iterable
from random import SystemRandom
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

import islands
from islands.calls import is_duration, is_whole

try:
    import dimod
except ModuleNotFoundError as error:
    error.msg = f"{error.msg}. Install it with: pip install 'islands[dimod]'"
    raise

_LARGEST_SUM = 1e299
"""Limit of the sum of absolute biases; converted to bits, they may be eight times as large."""
_SWEEPS = 40
"""Sweeps per replica and generation."""
_SMALL = 50
"""Up to this number of variables, a read ends when its search has converged."""
_CHECK_WORK = 2000
"""Variables times generations between two time checks: a few hundredths of a second."""
_LEAST_SECONDS = 0.001
_SETUP_SECONDS = 0.02
"""Estimated overhead of a read that shares no launches, until it is measured."""
_SETUP_PART = 0.25
"""Time reserved for creating the sample set, as a share of that spent on creating the model."""
_COMPILING = 0.1
"""Shorter compile times are cache look-ups and count towards the time limit."""
_LATE = 0.1
"""Grace period for reads in progress at the end of a call, in seconds."""
_MOST_SHARED_ITEMS, _MOST_SHARED_PAIRS = 1000, 50_000
"""Size limits of models whose reads share launches on a CPU. With larger ones, a generation takes
too long, and every read copies the model."""
_SHARED = 64
"""Maximum number of reads that share the launches of a CPU thread."""
_FIRST_SHARED, _GROWTH = 4, 4
"""Size of the first batch of reads per thread, which measures the overhead, and the factor by which
later batches may grow."""
_FIRST_ON_GPU, _ISLANDS_ON_GPU = 16, 128
"""Size of the first batch of reads on a GPU, and the number of islands of all reads together."""


class Sampler(dimod.Sampler, dimod.Initialized):  # type: ignore[misc]
    """A sampler of binary quadratic models, on a GPU or all cores.

    >>> from islands.dimod import Sampler
    >>> Sampler().sample_ising({"a": 0.5}, {("a", "b"): 1.0}).first.energy
    -1.5

    `backend` and `threads` are those of `islands.solve`. Compiled programs are kept until `close`
    or the end of a `with` block. Under MPI, all ranks must make the same calls.
    """

    def __init__(self, *, backend: str = "auto", threads: int | None = None) -> None:
        """Choose the device; it is acquired by the first call of `sample`."""
        self._backend, self._threads = backend, threads
        self._session: islands.Session | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """The keyword arguments of `sample`."""
        names = "num_reads time_limit seed num_sweeps initial_states interrupt_function"
        generators = {"initial_states_generator": ["none", "tile", "random"]}
        return {name: [] for name in names.split()} | generators

    @property
    def properties(self) -> dict[str, Any]:
        """Return an empty dict: the sampler has no properties."""
        return {}

    def sample(
        self,
        bqm: Any,
        num_reads: int | None = None,
        time_limit: float | None = 1.0,
        seed: int | None = 1,
        num_sweeps: int | None = None,
        initial_states: Any = None,
        initial_states_generator: str = "random",
        interrupt_function: Callable[[], bool] | None = None,
        **kwargs: Any,
    ) -> dimod.SampleSet:
        """Return samples of low energy of a binary quadratic model.

        `num_reads` is the number of independent searches, by default 1, or the number of
        `initial_states`, from which the reads start. Together, they take `time_limit` seconds, or
        less if every read has made `num_sweeps` sweeps over the variables; with `time_limit=None`,
        only the sweeps count. If the time is over before all reads have begun, fewer rows are
        returned, at least one, in the order of the reads. The k-th read has the seed `seed + k`;
        `seed=None` draws the first seed. `interrupt_function` is called periodically; if it returns
        True, the call ends with the samples so far.

        `info` has the `seconds` of the call, the `seed`, and a `digest`: equal digests mean equal
        searches, bit for bit.
        """
        self.remove_unknown_kwargs(**kwargs)
        _require(time_limit, num_sweeps, seed, interrupt_function)
        _require_count("num_reads", num_reads)
        if initial_states_generator not in self.parameters["initial_states_generator"]:
            raise ValueError("unknown value for 'initial_states_generator'")
        if seed is None:
            seed = self._ready().world.from_first(lambda: SystemRandom().randrange(2**31))
        reads = 1 if num_reads is None else int(num_reads)
        session = self._ready()
        began = time.perf_counter()
        linear, pairs, labels = _vectors(bqm)
        starts = None
        if initial_states is not None:
            parsed = self.parse_initial_states(
                bqm,
                initial_states,
                initial_states_generator,
                num_reads=num_reads,
                seed=seed % 2**32,
                copy_always=True,
            )
            starts, reads = _bits(parsed.initial_states, labels), parsed.num_reads
        results: list[islands.Result] = []
        states = np.zeros((reads, len(labels)), np.int8)
        if labels:
            problem = _problem(linear, pairs)
            limit = None if time_limit is None else float(time_limit)
            call = _Call(session, problem, began, limit, num_sweeps, interrupt_function)
            results = call.results(reads, seed, starts)
            states = np.array([result.solution for result in results], np.int8)
        if bqm.vartype is dimod.SPIN:
            states = 2 * states - 1
        samples = dimod.SampleSet.from_samples_bqm((states, labels), bqm)
        samples.info["seed"] = results[0].seed if results else seed
        samples.info["digest"] = _digest(results)
        samples.info["seconds"] = time.perf_counter() - began
        return samples

    def close(self) -> None:
        """Release the compiled programs and the device."""
        if self._session is not None:
            self._session.close()
        self._session = None

    def _ready(self) -> islands.Session:
        """Return the session; import slow modules now, so that no time limit includes this."""
        if self._session is None:
            self._session = islands.Session(backend=self._backend, threads=self._threads)
            islands.qubo([[0]])
        return self._session


class _Call:
    """The reads of one call, in batches that share its time.

    The overhead of a batch is measured, and subtracted from the search time of the next one.
    """

    def __init__(
        self,
        session: islands.Session,
        problem: Any,
        began: float,
        time_limit: float | None,
        num_sweeps: int | None,
        interrupts: Callable[[], bool] | None,
    ) -> None:
        self._session, self._problem, self._interrupts = session, problem, interrupts
        self._lock, self._is_over = Lock(), False
        self._stop = ["converged"] if problem.size <= _SMALL else []
        if num_sweeps is not None:
            self._stop.append(f"generations={-(-num_sweeps // _SWEEPS)}")
        flips = {"proposals": _SWEEPS * problem.size} if problem.flips is not None else {}
        self._others: dict[str, Any] = flips
        # The time of rank 0, as all ranks must have the same limit.
        setup = session.world.from_first(lambda: _SETUP_PART * (time.perf_counter() - began))
        self._end = math.inf if time_limit is None else began + time_limit - setup
        self._setup = _SETUP_SECONDS + setup
        """The overhead per read: the overhead of its batch divided by the number of reads in it."""

    def results(
        self, reads: int, seed: int, starts: NDArray[np.int8] | None
    ) -> list[islands.Result]:
        """Return the results of all reads, or of at least one if time is over."""
        done: list[islands.Result] = []
        is_single = starts is not None or reads == 1
        few, most, others = self._batches(1 if is_single else reads)
        self._setup /= few
        count = few if is_single or self._end < math.inf else reads
        while len(done) < reads and not (done and self._all_end()):
            count = min(count, reads - len(done))
            seconds = self._search_seconds(count, reads - len(done))
            settings = self._settings(seconds, count) | others
            settings["seed"] = done[0].seed + len(done) if done else seed
            if starts is not None:
                settings["start"] = [starts[len(done)]]
            began = time.perf_counter()
            if is_single:
                batch = [self._session.solve(self._problem, **settings)]
            else:
                batch = self._several(count, settings)
            compiling = _compiling(batch)
            self._end += compiling
            done += batch
            if self._end < math.inf:
                self._measure(count, began + compiling + seconds)
                count = max(few, min(most, _GROWTH * count, self._affordable()))
        return done

    def _batches(self, reads: int) -> tuple[int, int, dict[str, Any]]:
        """Return the size of the first batch, the maximum size of later ones, and the settings."""
        # Runs with a callback share no launches.
        calling: dict[str, Any] = {} if self._interrupts is None else {"callback": self._ends_read}
        if reads == 1:
            return 1, 1, calling
        session, ranks = self._session, self._session.world.size
        settings: dict[str, Any] = {"backend": session.backend, "threads": session.threads}
        if session.backend == "cuda":
            shared: dict[str, Any] = {"islands": max(1, _ISLANDS_ON_GPU * ranks // reads)}
            few = ranks if calling else _FIRST_ON_GPU * ranks
            return few, few if calling else reads, settings | (calling or shared)
        threads = session.device.threads * ranks
        are_short = 2 * reads * _SETUP_SECONDS > self._left() * threads
        pairs = self._problem.matrix.nnz
        is_large = self._problem.size > _MOST_SHARED_ITEMS or pairs > _MOST_SHARED_PAIRS
        if are_short and not (is_large or calling):
            return _FIRST_SHARED * threads, _SHARED * threads, settings | {"islands": 1}
        return threads, threads, settings | {"callback": self._ends_read}

    def _several(self, count: int, settings: dict[str, Any]) -> list[islands.Result]:
        """Return the results of a batch, or of the reads that have ended if time is over."""
        done: dict[int, islands.Result] = {}
        for number, result in islands.iter_many([self._problem], runs=count, **settings):
            done[number] = result
            if self._all_end(_LATE + _compiling(done.values())):
                break
        return [result for _, result in sorted(done.items())]

    def _search_seconds(self, count: int, reads: int) -> float:
        """Return the search time of a batch of `count` reads if `reads` remain."""
        return max(self._left() * count / reads - self._setup * count, _LEAST_SECONDS)

    def _measure(self, count: int, expected: float) -> None:
        """Measure the overhead of a read, from a batch that should have ended at `expected`."""
        late = self._session.world.from_first(lambda: time.perf_counter() - expected)
        self._setup = max(0.0, late) / count

    def _affordable(self) -> int:
        """Return the number of reads whose overhead takes half of the remaining time."""
        return int(self._left() / 2 / max(self._setup, 1e-6))

    def _left(self) -> float:
        """Return the remaining seconds, the same on all ranks."""
        return self._session.world.from_first(lambda: self._end - time.perf_counter())

    def _settings(self, seconds: float, count: int) -> dict[str, Any]:
        """Return the settings of a batch with this search time."""
        stop = [*self._stop, *([f"seconds={seconds}"] if seconds < math.inf else [])]
        every = max(1, _CHECK_WORK // (self._problem.size * count))
        return {"stop": stop, "record": {"every": every}, **self._others}

    def _all_end(self, late: float = 0.0) -> bool:
        """Return whether time is over on rank 0, or the caller has interrupted the call."""
        return self._session.world.from_first(
            lambda: time.perf_counter() >= self._end + late or self._is_interrupted()
        )

    def _ends_read(self, _: islands.Progress) -> bool:
        return self._is_interrupted()

    def _is_interrupted(self) -> bool:
        """Return whether the caller has interrupted the call; thread-safe."""
        if self._interrupts is not None and not self._is_over:
            with self._lock:
                self._is_over = self._is_over or bool(self._interrupts())
        return self._is_over


def _compiling(results: Iterable[islands.Result]) -> float:
    """Return the compile time of a batch."""
    seconds = max(result.compile_seconds for result in results)
    return seconds if seconds > _COMPILING else 0.0


def _require(
    time_limit: float | None,
    num_sweeps: int | None,
    seed: int | None,
    interrupts: Callable[[], bool] | None,
) -> None:
    """Reject invalid arguments, and calls without a limit."""
    if time_limit is None and num_sweeps is None:
        raise ValueError("'time_limit' and 'num_sweeps' are None: give one of them")
    if time_limit is not None and not is_duration(time_limit):
        raise ValueError(f"'time_limit' should be a positive number of seconds: {time_limit!r}")
    _require_count("num_sweeps", num_sweeps)
    if interrupts is not None and not callable(interrupts):
        raise TypeError("'interrupt_function' should be a callable")
    if seed is not None and not (is_whole(seed) and 0 <= seed < 2**63):
        raise ValueError(f"'seed' should be an integer of at least 0, or None: {seed!r}")


def _require_count(name: str, value: Any) -> None:
    """Reject an argument that is neither None nor a positive integer."""
    if value is not None and not (is_whole(value) and value > 0):
        raise ValueError(f"'{name}' should be a positive integer: {value!r}")


def _problem(linear: NDArray[np.float64], pairs: tuple[Any, Any, Any]) -> Any:
    """Return the problem with these biases; reject too many variables."""
    from scipy.sparse import coo_array

    n, items = len(linear), np.arange(len(linear))
    rows, columns, biases = map(np.concatenate, zip(pairs, (items, items, linear), strict=True))
    try:
        return islands.qubo(coo_array((biases, (rows, columns)), (n, n)))
    except islands.IslandsError as error:
        raise ValueError(f"'bqm' is too large: {error}") from None


def _vectors(bqm: Any) -> tuple[NDArray[np.float64], tuple[Any, Any, Any], list[Any]]:
    """Return linear biases; rows, columns and biases of pairs; and labels, for binary variables."""
    if not isinstance(bqm, dimod.BinaryQuadraticModel):
        raise TypeError(
            f"'bqm' should be a dimod.BinaryQuadraticModel, not {type(bqm).__name__}. For dicts,"
            " call sample_ising or sample_qubo"
        )
    try:
        bits = bqm.change_vartype("BINARY", inplace=False)
        linear, pairs, _, labels = bits.to_numpy_vectors(return_labels=True)
        linear, biases = np.asarray(linear, float), np.asarray(pairs[2], float)
    except OverflowError:  # a large Python integer
        raise _rejection(bqm) from None
    with np.errstate(over="ignore"):
        size = float(np.abs(linear).sum() + np.abs(biases).sum())
    if not size < 8 * _LARGEST_SUM:
        raise _rejection(bqm)
    if not np.isfinite(bqm.offset):
        raise ValueError(f"'bqm' has the offset {bqm.offset}, should be a finite number")
    return linear, (pairs[0], pairs[1], biases), list(labels)


def _rejection(bqm: Any) -> ValueError:
    """Return the error about the largest bias of a model, or about one that is not a number."""
    biases = [*bqm.linear.items(), *bqm.quadratic.items()]
    owner, bias = max(biases, key=lambda pair: abs(pair[1]) if pair[1] == pair[1] else math.inf)
    if not abs(bias) < math.inf:
        return ValueError(f"'bqm' has the bias {bias} of {owner!r}, should be a finite number")
    return ValueError(
        f"'bqm' has the bias {bias} of {owner!r}: the sizes of all biases should sum to less"
        f" than {_LARGEST_SUM}. Make them smaller, for example by bqm.scale(1e-20)"
    )


def _bits(states: dimod.SampleSet, labels: list[Any]) -> NDArray[np.int8]:
    """Return states as bits in the order of the labels."""
    place = {label: column for column, label in enumerate(states.variables)}
    ordered = states.record.sample[:, [place[label] for label in labels]]
    return np.asarray(ordered > 0, np.int8)


def _digest(results: list[islands.Result]) -> str:
    """Return the digest of a read, or a digest of the digests of several."""
    if len(results) == 1:
        return results[0].digest
    return hashlib.sha256("".join(result.digest for result in results).encode()).hexdigest()
