"""A sampler with the interface of D-Wave's `dimod`: `from islands.dimod import Sampler`.

It needs `pip install 'islands[dimod]'`. Whatever takes a sampler of dimod takes this one.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable
from numbers import Integral, Real
from threading import Lock, get_ident
from typing import Any

import numpy as np
from numpy.typing import NDArray

import islands

try:
    import dimod
except ModuleNotFoundError as error:
    error.msg = f"{error.msg}. Install it with: pip install 'islands[dimod]'"
    raise

_SWEEPS = 40
"""Sweeps of a replica in a generation: the default of the search."""
_SMALL = 50
"""Up to so many variables, a read ends before its time when its search has converged."""
_LOOKS = 2000
"""Variables times generations between two looks at the clock: some hundredths of a second."""
_LEAST_SECONDS = 0.001
_SETUP_SECONDS = 0.02
"""What it takes to begin and end a read that shares no launches."""
_COMPILING = 0.3
"""If the first read begins later than this, its program was compiled, which does not count."""
_MOST_SHARED_ITEMS = 1000
"""A CPU takes too long for a generation of many larger models at once."""
_SHARED = 128
"""Reads of one island that share the launches of a thread of a CPU; islands of a GPU."""


class Sampler(dimod.Sampler, dimod.Initialized):  # type: ignore[misc]
    """A sampler of binary quadratic models, on a GPU or all cores.

    >>> from islands.dimod import Sampler
    >>> Sampler().sample_ising({"a": 0.5}, {("a", "b"): 1.0}).first.energy
    -1.5

    `backend` and `threads` are those of `islands.solve`. The compiled programs stay ready until
    `close`, or the end of a `with` block. Under MPI, every rank makes the same calls.
    """

    def __init__(self, *, backend: str = "auto", threads: int | None = None) -> None:
        """Choose the device, which the first sample takes."""
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
        """None."""
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
        """Return low samples of a binary quadratic model.

        `num_reads` is the number of independent searches, by default that of `initial_states`, with
        which they begin, or 1. All of them together take `time_limit` seconds, or less after
        `num_sweeps` sweeps over the variables each; `time_limit=None` leaves only the sweeps. The
        k-th read has the seed `seed + k`; `seed=None` draws the first one. `interrupt_function` is
        called now and then; when it returns True, the call ends with the samples so far.

        `info` has the `seconds` of the call, the `seed`, and a `digest`: equal digests mean equal
        searches, bit for bit.
        """
        self.remove_unknown_kwargs(**kwargs)
        _require(time_limit, num_sweeps, interrupt_function)
        session = self._ready()
        began = time.perf_counter()
        linear, pairs, labels = _vectors(bqm)
        starts = None
        if initial_states is not None:
            parsed = self.parse_initial_states(
                *(bqm, initial_states, initial_states_generator, num_reads, seed), copy_always=True
            )
            starts, num_reads = _bits(parsed.initial_states, labels), parsed.num_reads
        reads = _reads(num_reads)
        results: list[islands.Result] = []
        states = np.zeros((reads, len(labels)), np.int8)
        if labels:
            problem = islands.qubo(_matrix(linear, pairs))
            call = _Call(session, problem, began, time_limit, num_sweeps, interrupt_function)
            if starts is None and reads > 1:
                results = call.together(reads, seed)
            else:
                results = call.one_by_one(reads, seed, starts)
            states = np.array([each.solution for each in results], np.int8)
        if bqm.vartype is dimod.SPIN:
            states = 2 * states - 1
        samples = dimod.SampleSet.from_samples_bqm((states, labels), bqm)
        samples.info["seed"] = results[0].seed if results else seed
        samples.info["digest"] = _digest(results)
        samples.info["seconds"] = time.perf_counter() - began
        return samples

    def close(self) -> None:
        """Forget the compiled programs, and release the device."""
        if self._session is not None:
            self._session.close()
        self._session = None

    def _ready(self) -> islands.Session:
        """Return the device; import what makes models, which the time of a call leaves out."""
        if self._session is None:
            self._session = islands.Session(backend=self._backend, threads=self._threads)
            islands.qubo([[0]])
        return self._session


class _Call:
    """The searches of one call, which share its time."""

    def __init__(
        self,
        session: islands.Session,
        problem: islands.Problem,
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
        now = time.perf_counter()
        # The samples are returned in less time than their model took.
        self._end = math.inf if time_limit is None else began + time_limit - (now - began) / 4
        self._began = now
        self._turns = 0.0
        """The reads that each thread has yet to begin."""
        self._ends_at: dict[int, float] = {}
        """When the read of each thread has to end."""

    def one_by_one(
        self, reads: int, seed: int | None, starts: NDArray[np.int8] | None
    ) -> list[islands.Result]:
        """Return the results of reads that have the whole device in turn."""
        found: list[islands.Result] = []
        while len(found) < reads and not (found and self._all_end()):
            settings = self._settings(reads - len(found))
            if starts is not None:
                settings["start"] = [starts[len(found)]]
            if self._interrupts is not None:
                settings["callback"] = lambda _: self._ends()
            first = found[0].seed + len(found) if found else seed
            found.append(self._session.solve(self._problem, seed=first, **settings))
            self._end += found[-1].compile_seconds
        return found

    def together(self, reads: int, seed: int | None) -> list[islands.Result]:
        """Return the results of reads that share launches, or that all threads have in turn."""
        session, on_gpu = self._session, self._session.backend == "cuda"
        own = -(-reads // session.world.size)
        self._turns = own if on_gpu else own / session.device.threads
        are_short = 2 * self._turns * _SETUP_SECONDS > self._left()
        shares = on_gpu or (are_short and self._problem.size <= _MOST_SHARED_ITEMS)
        if shares and self._interrupts is None:
            waves = 1 if on_gpu else math.ceil(self._turns / _SHARED)
            settings = self._settings(waves, min(own, _SHARED))
            settings["islands"] = max(1, _SHARED // own) if on_gpu else 1
        else:  # what has a callback shares no launches
            settings = self._settings(math.ceil(self._turns)) | {"callback": self._ends_turn}
        settings |= {"backend": session.backend, "threads": session.threads, "seed": seed}
        found: dict[int, islands.Result] = {}
        self._began = time.perf_counter()
        for number, result in islands.iter_many([self._problem], runs=reads, **settings):
            found[number] = result
            if self._all_end():
                break
        return [result for _, result in sorted(found.items())]

    def _left(self) -> float:
        """Return the seconds that are left, the same on all ranks."""
        return self._session.world.from_first(lambda: self._end - time.perf_counter())

    def _all_end(self) -> bool:
        """Return whether the caller has interrupted rank 0."""
        if self._interrupts is None:
            return False
        return self._session.world.from_first(self._ends)

    def _settings(self, waves: int, together: int = 1) -> dict[str, Any]:
        """Return the settings of reads with one of the waves that are left, some at a time."""
        stop = [*self._stop]
        if self._end < math.inf:
            stop.append(f"seconds={max(self._left() / waves, _LEAST_SECONDS)}")
        every = max(1, _LOOKS // (self._problem.size * together))
        return {"stop": stop, "record": {"every": every}}

    def _ends_turn(self, progress: islands.Progress) -> bool:
        """Return whether a thread has to begin its next read, which has its part of what is left.

        What a thread does between two reads takes time, too.
        """
        now, thread = time.perf_counter(), get_ident()
        with self._lock:
            if not self._ends_at and now - self._began > _COMPILING:
                self._end += now - self._began
            if progress.generation == 0:
                between = now - self._ends_at.get(thread, now)
                part = (self._end - now) / max(1, math.ceil(self._turns))
                self._ends_at[thread] = now + max(0.0, part - between)
                self._turns -= 1 / max(1, len(self._ends_at))
        return now >= self._ends_at[thread] or self._ends()

    def _ends(self) -> bool:
        """Return whether the caller has interrupted the call; any thread may ask."""
        if self._interrupts is not None and not self._is_over:
            with self._lock:
                self._is_over = self._is_over or bool(self._interrupts())
        return self._is_over


def _require(
    time_limit: float | None, num_sweeps: int | None, interrupts: Callable[[], bool] | None
) -> None:
    """Refuse limits that are no numbers, and no limit at all."""
    if time_limit is None and num_sweeps is None:
        raise ValueError("'time_limit' and 'num_sweeps' are None: give one of them")
    if time_limit is not None and not (isinstance(time_limit, Real) and 0 < time_limit < math.inf):
        raise ValueError(f"'time_limit' should be a positive number of seconds: {time_limit!r}")
    if num_sweeps is not None and not (isinstance(num_sweeps, Integral) and num_sweeps > 0):
        raise ValueError(f"'num_sweeps' should be a positive integer: {num_sweeps!r}")
    if interrupts is not None and not callable(interrupts):
        raise TypeError("'interrupt_function' should be a callable")


def _reads(num_reads: int | None) -> int:
    """Return the number of reads."""
    if num_reads is None:
        return 1
    if not isinstance(num_reads, Integral) or num_reads < 1:
        raise ValueError(f"'num_reads' should be a positive integer: {num_reads!r}")
    return int(num_reads)


def _vectors(bqm: Any) -> tuple[NDArray[np.float64], tuple[Any, Any, Any], list[Any]]:
    """Return linear biases; rows, columns and biases of pairs; and labels, all for bits."""
    if not isinstance(bqm, dimod.BinaryQuadraticModel):
        raise TypeError(
            f"'bqm' should be a dimod.BinaryQuadraticModel, not {type(bqm).__name__}. For dicts,"
            " call sample_ising or sample_qubo"
        )
    bits = bqm.change_vartype("BINARY", inplace=False)
    linear, pairs, _, labels = bits.to_numpy_vectors(return_labels=True)
    linear, biases = np.asarray(linear, float), np.asarray(pairs[2], float)
    for values in (linear, biases):
        if not np.isfinite(values).all():
            raise ValueError(f"'bqm' has the bias {values[~np.isfinite(values)][0]}")
    return linear, (pairs[0], pairs[1], biases), list(labels)


def _matrix(linear: NDArray[np.float64], pairs: tuple[Any, Any, Any]) -> Any:
    """Return the matrix of a quadratic form."""
    from scipy.sparse import coo_array

    items = np.arange(len(linear))
    rows, columns, biases = map(np.concatenate, zip(pairs, (items, items, linear), strict=True))
    return coo_array((biases, (rows, columns)), (len(linear), len(linear)))


def _bits(states: dimod.SampleSet, labels: list[Any]) -> NDArray[np.int8]:
    """Return states as bits in the order of the labels."""
    place = {label: column for column, label in enumerate(states.variables)}
    ordered = states.record.sample[:, [place[label] for label in labels]]
    return np.asarray(ordered > 0, np.int8)


def _digest(results: list[islands.Result]) -> str:
    """Return the digest of a read, or one of the digests of several."""
    if len(results) == 1:
        return results[0].digest
    return hashlib.sha256("".join(each.digest for each in results).encode()).hexdigest()
