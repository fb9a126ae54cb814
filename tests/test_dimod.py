"""The sampler with dimod's interface, by dimod's own tests and against all states."""

import hashlib
import re
import unittest
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

dimod: Any = pytest.importorskip("dimod")
testing: Any = pytest.importorskip("dimod.testing")

import islands  # noqa: E402
from islands.dimod import Sampler  # noqa: E402


@pytest.fixture(scope="module")
def sampler() -> Any:
    with Sampler(backend="cpu", threads=1) as found:
        yield found


def drawn(n: int, pairs: int, vartype: str = "SPIN", seed: int = 1) -> Any:
    random = np.random.default_rng(seed)
    one, two = random.integers(0, n, (2, pairs))
    apart = one != two
    biases = random.normal(size=pairs)[apart]
    linear = random.normal(size=n)
    return dimod.BQM.from_numpy_vectors(linear, (one[apart], two[apart], biases), 0.5, vartype)


def of_this_machine() -> Any:
    return Sampler(backend="cpu", threads=1)


@testing.load_sampler_bqm_tests(of_this_machine)
class TestConformance(unittest.TestCase):
    def test_the_interface_is_that_of_a_sampler(self) -> None:
        testing.assert_sampler_api(of_this_machine())


@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
def test_samples_are_as_low_as_those_of_all_states(sampler: Any, vartype: str) -> None:
    model = drawn(12, 40, vartype).relabel_variables(dict(enumerate("lkjihgfedcba")), inplace=False)
    best = dimod.ExactSolver().sample(model).first.energy
    found = sampler.sample(model, num_reads=3, time_limit=20)  # small models end before
    assert len(found) == 3
    assert found.record.energy == pytest.approx(best)
    testing.assert_sampleset_energies(found, model, precision=9)


def test_info_says_what_repeats_a_call(sampler: Any) -> None:
    model = drawn(30, 100)
    first, second, other = (
        sampler.sample(model, num_sweeps=400, time_limit=None, seed=seed) for seed in (5, 5, 6)
    )
    assert first.info["seed"] == 5
    assert first.info["digest"] == second.info["digest"] != other.info["digest"]
    assert 0 < first.info["seconds"] < 60
    drawn_seed = sampler.sample(model, num_sweeps=40, seed=None).info["seed"]
    assert isinstance(drawn_seed, int)


class Searches:
    """Searches that take exactly their time, and some more for each read, by a clock of their own.

    `perf_counter`, `solve` and `iter_many` replace those of Python and of islands.
    """

    def __init__(self, setup: float, compiling: float = 0.0) -> None:
        self.now, self._setup, self._compiling = 100.0, setup, compiling
        self.compiled = 0.0

    def perf_counter(self) -> float:
        self.now += 1e-6
        return self.now

    def solve(self, problem: Any, **settings: Any) -> Any:
        return next(self.iter_many([problem], 1, **settings))[1]

    def iter_many(
        self, problems: Any, runs: int, stop: list[str], seed: int, **_: Any
    ) -> Iterator[tuple[int, Any]]:
        seconds = float(stop[-1].removeprefix("seconds="))
        self.now += seconds + self._setup * runs + self._compiling
        self.compiled += self._compiling
        for k in reversed(range(runs)):  # those that begin last may end first
            bits = [k % 2] * problems[0].size
            digest = {"digest": str(seed + k), "compile_seconds": self._compiling}
            yield k, SimpleNamespace(solution=bits, seed=seed + k, **digest)
        self._compiling = 0.0


def timed(monkeypatch: pytest.MonkeyPatch, searches: Searches, n: int, **given: Any) -> Any:
    """Return samples whose searches take some time, and assert that this is the limit."""
    with Sampler(backend="cpu", threads=1) as found:
        found.sample(drawn(2, 1), time_limit=None, num_sweeps=1)  # opens the session
        monkeypatch.setattr(found._session, "solve", searches.solve)
        monkeypatch.setattr(islands, "iter_many", searches.iter_many)
        monkeypatch.setattr("islands.dimod.time", searches)
        began = searches.now
        samples = found.sample(drawn(n, 3 * n), **given)
        monkeypatch.undo()
    left = given["time_limit"] + searches.compiled - (searches.now - began)
    assert abs(left) < 0.1
    return samples


@pytest.mark.parametrize("n", [300, 1500], ids=["shares launches", "alone"])
@pytest.mark.parametrize("reads", [1, 2, 5, 60])
@pytest.mark.parametrize("compiling", [0.0, 3.0])
@pytest.mark.parametrize("setup", [0.0002, 0.01])
def test_all_reads_together_take_the_time_limit(
    monkeypatch: pytest.MonkeyPatch, n: int, reads: int, compiling: float, setup: float
) -> None:
    searches = Searches(setup, compiling)
    samples = timed(monkeypatch, searches, n, num_reads=reads, time_limit=1.0)
    assert len(samples) == reads


def test_reads_without_time_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = timed(monkeypatch, Searches(0.05), 1500, num_reads=100, time_limit=1.0)
    assert 5 < len(samples) < 25


def test_rows_are_in_the_order_of_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = timed(monkeypatch, Searches(0.001), 300, num_reads=60, time_limit=0.5, seed=7)
    digest = hashlib.sha256("".join(map(str, range(7, 7 + 60))).encode()).hexdigest()
    assert samples.info["digest"] == digest
    assert samples.record.sample[:4, 0].tolist() == [-1, 1, -1, 1]


def test_samples_of_real_searches_have_their_energies(sampler: Any) -> None:
    model = drawn(300, 3000)
    for reads in (1, 60):
        found = sampler.sample(model, num_reads=reads, time_limit=0.4)
        assert 0 < len(found) <= reads
        testing.assert_sampleset_energies(found, model, precision=5)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
@pytest.mark.parametrize("size", [1e-320, 1e-300, 1e297])
def test_tiny_and_huge_biases_have_usual_samples(sampler: Any, vartype: str, size: float) -> None:
    usual = drawn(8, 20, vartype)
    model = usual.copy()
    model.scale(size)
    found = sampler.sample(model, time_limit=20).first.sample
    assert usual.energy(found) == pytest.approx(dimod.ExactSolver().sample(usual).first.energy)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
@pytest.mark.parametrize(
    "bias", [1e300, -1e308, 1.7e308, 10**400], ids=["1e300", "-1e308", "1.7e308", "10**400"]
)
def test_a_bias_whose_sums_overflow_is_named(sampler: Any, vartype: str, bias: Any) -> None:
    words = re.escape(f"'bqm' has the bias {bias} of ") + ".*bqm.scale"
    for linear, quadratic, owner in (
        ({"a": bias, "b": 1}, {}, "'a'"),
        ({"a": 1}, {"ab": bias}, r"\('[ab]', '[ab]'\)"),
    ):
        model = dimod.BQM(linear, quadratic, 0, vartype, dtype=object)
        with pytest.raises(ValueError, match=words) as error:
            sampler.sample(model)
        assert re.search(f"of {owner}:", str(error.value))


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_an_offset_that_is_no_number_is_rejected(sampler: Any, wrong: float) -> None:
    with pytest.raises(ValueError, match=f"'bqm' has the offset {wrong}, should be a finite"):
        sampler.sample(dimod.BQM({0: 1.0}, {}, wrong, "SPIN"))


def test_sweeps_without_a_limit_leave_no_read_out(sampler: Any) -> None:
    found = sampler.sample(drawn(60, 200), num_reads=7, time_limit=None, num_sweeps=40)
    assert len(found) == 7


def test_numbers_of_numpy_are_numbers(sampler: Any) -> None:
    limit, reads = np.float32(0.2), np.int64(2)
    found = sampler.sample(drawn(8, 20), time_limit=limit, num_reads=reads, seed=np.int32(4))
    assert found.info["seed"] == 4
    assert len(found) > 0


def test_reads_begin_with_initial_states(sampler: Any) -> None:
    model = drawn(40, 300)
    best = sampler.sample(model, time_limit=0.5)
    found = sampler.sample(model, initial_states=best, num_sweeps=1)
    assert len(found) == 1
    assert found.first.energy <= best.first.energy + 1e-9
    more: dict[str, Any] = {"num_reads": 2, "num_sweeps": 1, "seed": 2**40}  # above those of NumPy
    assert len(sampler.sample(model, initial_states=best, **more)) == 2


def test_a_function_interrupts_reads(sampler: Any) -> None:
    calls: list[int] = []

    def interrupts() -> bool:
        calls.append(1)
        return len(calls) > 2

    found = sampler.sample(
        drawn(200, 1000), num_reads=20, time_limit=20, interrupt_function=interrupts
    )
    assert 0 < len(found) < 20
    assert found.info["seconds"] < 15


WRONG: dict[str, tuple[type[Exception], dict[str, Any]]] = {
    "'time_limit' should be a positive number": (ValueError, {"time_limit": 0}),
    "give one of them": (ValueError, {"time_limit": None}),
    "'num_sweeps' should be a positive integer": (ValueError, {"num_sweeps": 0.5}),
    "'num_reads' should be a positive integer": (ValueError, {"num_reads": 0}),
    "'num_reads' should be a positive integer: True": (ValueError, {"num_reads": True}),
    "'time_limit' should be a positive number of seconds: True": (ValueError, {"time_limit": True}),
    "'seed' should be an integer": (ValueError, {"seed": 1.5}),
    "'interrupt_function' should be a callable": (TypeError, {"interrupt_function": 3}),
    "mismatch between variables": (ValueError, {"initial_states": {"z": 1}}),
    "unknown value for 'initial_states_generator'": (
        ValueError,
        {"initial_states_generator": "abc"},
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_arguments_are_rejected_in_the_words_of_dimod(sampler: Any, message: str) -> None:
    kind, given = WRONG[message]
    with pytest.raises(kind, match=message):
        sampler.sample(drawn(4, 5), **given)


def test_wrong_models_are_rejected_and_unknown_arguments_are_ignored(sampler: Any) -> None:
    with pytest.raises(TypeError, match="sample_ising or sample_qubo"):
        sampler.sample({(0, 1): 2})
    with pytest.raises(ValueError, match="has the bias nan"):
        sampler.sample_ising({0: float("nan")}, {})
    with pytest.warns(dimod.exceptions.SamplerUnknownArgWarning, match="beta_range"):
        sampler.sample(drawn(4, 5), beta_range=[1, 2])


@pytest.mark.slow
def test_a_model_of_many_variables_is_read(sampler: Any) -> None:
    model = drawn(100_000, 1_000_000)
    found = sampler.sample(model, time_limit=0.5)
    assert found.record.energy == pytest.approx(model.energies(found))
