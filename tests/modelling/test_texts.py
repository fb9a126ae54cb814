"""What the CUDA texts of a problem may use: CUDA's functions, sums of a block, equal names."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models_for_tests import cost_text
from programs_for_tests import for_gpu, require_compiles

import islands
from islands.backends.arguments import Null, Struct
from islands.backends.base import Backend, Block
from islands.check.ways import source_of
from islands.errors import CompileError
from islands.modelling.model import Model

N = 12
ANY = np.arange(N)[np.newaxis]

INTEGERS = {
    "__popc(0xf0u)": 4,
    "__ffs(12)": 3,
    "__ffs(0)": 0,
    "__ffsll(1ll << 40)": 41,
    "__clz(0)": 32,
    "__clzll(1ll)": 63,
    "__clzll(0ll)": 64,
    "__brev(3u)": 3 << 30,
    "__brevll(1ull) == 1ull << 63": 1,
    "__mulhi(-3, 5)": -1,
    "__umulhi(1u << 31, 6u)": 3,
    "__mul64hi(-3ll, 5ll)": -1,
    "__umul64hi(1ull << 63, 6ull)": 3,
    "min(3, -2)": -2,
    "max(-1, 2u)": 2**32 - 1,
    "min(-1, 2u)": 2,
    "min(3ll, -2ll)": -2,
    "max(-1ll, 2ull) == ~0ull": 1,
    "abs(-3) + llabs(-4ll)": 7,
    "__float_as_int(1.0f)": 0x3F800000,
    "__float_as_uint(-1.0f)": 0xBF800000,
    "__double_as_longlong(1.0)": 0x3FF0000000000000,
    "make_int2(4, 5).y + make_int4(1, 2, 3, 4).w": 9,
    "__ldg(data.table + 3)": 9,
    "isnan(NAN) + 2 * isinf(INFINITY) + 4 * isfinite(1.0) + 8 * signbit(-0.0)": 15,
}
"""Exact functions of integers, with their values."""
REALS = {
    "max(1.5, NAN)": 1.5,
    "min(NAN, 1.5)": 1.5,
    "max(0.1f, 0.1)": float(np.float32(0.1)),
    "min(0.1f, 0.2f)": float(np.float32(0.1)),
    "fmin(2.0, 3.0) + fmaxf(2.0f, 3.0f)": 5,
    "sqrt(2.0)": np.sqrt(2.0),
    "sqrt(2.0f)": float(np.sqrt(np.float32(2))),
    "fmaf(0.1f, 10.0f, -1.0f)": float(np.float32(np.float64(np.float32(0.1)) * 10 - 1)),
    "fma(0.1f, 10.0f, -1.0f)": float(np.float32(np.float64(np.float32(0.1)) * 10 - 1)),
    "fma(0.1, 10.0, -1.0)": 2.0**-54,
    "floor(-1.5) + ceilf(1.5f) + trunc(-2.7) + rint(2.5) + round(2.5)": 3,
    "fabs(-2.0) + fabsf(-1.0f) + fmod(7.0, 4.0) + copysign(1.0, -2.0)": 5,
    "__longlong_as_double(__double_as_longlong(0.1))": 0.1,
    "__int_as_float(0x3f800000) + __uint_as_float(0x40000000u)": 3,
}
"""Exact functions of real numbers, with their values."""
ATOMICS = """
    __shared__ unsigned long long big;
    __shared__ int most, least, sum, before;
    __shared__ unsigned bits;
    if (threadIdx.x == 0) {
        big = 1ull << 40, most = 3, least = 3, sum = 1, bits = 12;
        atomicAdd(&big, 5ull);
        atomicMax(&most, 9), atomicMin(&least, -9), atomicAdd(&sum, 4), atomicSub(&sum, 2);
        if (n < 0) printf("%d", n);
        atomicAnd(&bits, 6u), atomicOr(&bits, 1u), atomicXor(&bits, 8u);
        before = atomicExch(&sum, 50) + atomicCAS(&most, 9, 70) + atomicCAS(&least, 1, 2);
    }
    __syncthreads();
    return (long long)(big >> 40) + (big & 15) + most + sum + bits + before;"""
"""In shared memory, since CUDA has no atomic functions for the local memory of a thread."""

SUM = """    const auto term = [&](int i) { return 1.0 / (i + 3) * s[i]; };
    return block::sum(n, term) - 2 * block::sum(n / 2, term);"""


def switched(values: dict[str, Any], kind: str) -> Model:
    """Return a problem whose cost is the value of expression number `data.which`."""
    cases = "\n".join(f"case {i}: return {each};" for i, each in enumerate(values))
    data = {"which": 0, "table": np.arange(N) ** 2}
    return islands.permutation(
        N, cost=cost_text(f"switch (data.which) {{\n{cases}\n}}\nreturn 0;", kind), data=data
    )


def evaluated(problem: Model, backend: Backend, which: int = 0) -> Any:
    problem.members["which"] = np.int64(which)
    (cost,) = problem.program_costs(ANY, backend.name)
    return cost


@pytest.mark.parametrize(("values", "kind"), [(INTEGERS, "long long"), (REALS, "double")])
def test_functions_of_cuda_are_correct(backend: Backend, values: dict[str, Any], kind: str) -> None:
    problem = switched(values, kind)
    found = [evaluated(problem, backend, i) for i in range(len(values))]
    assert dict(zip(values, found, strict=True)) == values


def test_atomic_functions_have_their_values(backend: Backend) -> None:
    # 1 + 5 + 70 + 50 + 13 and, before the exchanges, 3 + 9 - 9.
    problem = islands.permutation(N, cost=cost_text(ATOMICS), cooperative=True)
    assert problem.program_costs(ANY, backend.name).tolist() == [142]


@pytest.mark.gpu
@pytest.mark.parametrize(
    "problem",
    [
        switched(INTEGERS, "long long"),
        switched(REALS, "double"),
        islands.permutation(N, cost=cost_text(ATOMICS), cooperative=True),
        islands.permutation(N, cost=cost_text(SUM, "double"), cooperative=True),
    ],
    ids=["integers", "reals", "atomics", "sums"],
)
def test_the_same_functions_compile_for_gpus(problem: Model) -> None:
    require_for_gpu(problem)


def require_for_gpu(problem: Model) -> None:
    data = problem.device_data().items()
    of_kernel = {n: v if isinstance(v, np.generic) else Null(v.dtype) for n, v in data}
    source = source_of("check/functions.cuh", problem, Struct(**of_kernel))
    require_compiles(for_gpu(source.entry, source.defines, Block(128, 1), source.structs))


@pytest.mark.parametrize(
    "line", ["return __nothing(3);", "float f = 0;\n    atomicAdd(&f, 1.0f);\n    return 0;"]
)
def test_a_function_that_is_absent_is_an_error_with_its_line(line: str) -> None:
    problem = islands.permutation(N, cost=cost_text(f"    {line}"))
    with pytest.raises(CompileError) as raised:
        problem.program_costs(ANY, "cpu")
    (wrong,) = [each.strip() for each in line.splitlines() if "(" in each]
    assert f"this line is {wrong!r}" in str(raised.value)


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 12, 1000])
def test_a_sum_of_doubles_has_a_fixed_order(backend: Backend, n: int) -> None:
    problem = islands.permutation(n, cost=cost_text(SUM, "double"), cooperative=True)
    orders = problem.kind.drawn(5, seed=1)

    def total(terms: Any) -> float:
        parts = np.zeros(64)
        for i, term in enumerate(terms.tolist()):
            parts[i % 64] += term
        while len(parts) > 1:
            parts = parts[: len(parts) // 2] + parts[len(parts) // 2 :]
        return float(parts[0])

    terms = 1.0 / (np.arange(n) + 3) * orders
    wanted = [total(row) - 2 * total(row[: n // 2]) for row in terms]
    assert problem.program_costs(orders, backend.name).tolist() == wanted
    assert islands.check_problem(problem, samples=20).works


@pytest.mark.parametrize("number", ["1.5", "1.5f"])
def test_a_sum_without_an_order_is_an_error_with_its_line(number: str) -> None:
    text = cost_text(f"    return block::sum({number});", "double")
    problem = islands.permutation(N, cost=text, cooperative=True)
    with pytest.raises(CompileError) as raised:
        problem.program_costs(ANY, "cpu")
    assert "write block::sum(n, [&](int i) { return ...; })" in str(raised.value)
    assert f"the cause is cost.cu, line 2, 'return block::sum({number});'" in str(raised.value)
    if pytest.importorskip("cupy"):
        with pytest.raises(CompileError, match=r"cost\.cu, line 2"):
            require_for_gpu(problem)


SHARED = """
constexpr int LIMIT = 12;
struct Load { long long sum; };
__device__ long long sum_of(const Solution& s, int n) {
    long long sum = 0;
    for (int i = 0; i < n; ++i) sum += i * (s[i] != 0);
    return sum;
}
template <class Any>
__device__ Load load(const Any& s, int n) { return {sum_of(s, n)}; }
__device__ long long over(const Load& load) { return max(0ll, load.sum - LIMIT); }
__device__ long long cost(const Solution& s, int n, const Data&) { return load(s, n).sum; }
__device__ long long violation(const Solution& s, int n, const Data&) { return over(load(s, n)); }
"""
CHANGES = """
struct State {
    long long sum;
    __device__ State(Memory&, int, const Data&) : sum(0) {}
};
__device__ long long after(const State& state, const Solution& s, Flip move) {
    return state.sum + (s[move.item] ? -move.item : move.item);
}
__device__ void prepare(State& state, const Solution& s, int n, const Data&) {
    state.sum = load(s, n).sum;
}
__device__ Change change(const State& state, const Solution& s, int n, const Data&, Flip move) {
    const Load now = {state.sum}, then = {after(state, s, move)};
    return {then.sum - now.sum, over(then) - over(now)};
}
__device__ void apply(State& state, const Solution& s, int n, const Data&, Flip move) {
    state.sum = after(state, s, move);
}
"""
FIXED = """
__device__ void repair(Changing& s, int n, const Data&) {
    if (sum_of(s.solution, n) > 14) s.set(n - 1, 0);
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("texts", "algorithm"),
    [
        ({"cost": SHARED, "violation": SHARED}, "ga"),
        ({"cost": SHARED + CHANGES, "violation": SHARED, "state": SHARED + CHANGES}, "tempering"),
        ({"cost": SHARED + FIXED, "violation": SHARED + FIXED, "repair": SHARED + FIXED}, "ga"),
    ],
)
def test_one_text_with_helpers_may_be_all_functions(texts: Any, algorithm: str) -> None:
    """The cost after a move, which is compiled from the same texts, found helpers twice."""
    problem = islands.subset(6, maximise=True, **texts)
    every = (np.arange(64)[:, np.newaxis] >> np.arange(6)) & 1
    sums = every @ np.arange(6)
    assert problem.program_costs(every, "cpu").tolist() == sums.tolist()
    assert problem.violations(every).tolist() == np.maximum(0, sums - 12).tolist()
    result = islands.solve(problem, algorithm=algorithm, generations=20, backend="cpu")
    assert (result.cost, result.violation) == (12, 0)
    if pytest.importorskip("cupy"):
        require_for_gpu(problem)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("if (s[0] >= 0) {}", "return-type"),
        ("return 7 / 0;", "division by zero"),
        ("double sum = s[0];\n    return sum;", "returns a real number: let cost and all other"),
        ("return n > 1 ? INFINITY : s[0];", "returns a real number: let cost and all other"),
    ],
)
def test_code_that_loses_its_value_is_rejected(body: str, message: str) -> None:
    """A missing return ended the process; the fraction of a real cost was lost silently."""
    with pytest.raises(CompileError, match=rf"{message}.*cost\.cu|cost\.cu.*{message}"):
        islands.permutation(4, cost=cost_text(body)).program_costs(np.arange(4)[np.newaxis], "cpu")


def test_a_change_of_a_whole_cost_is_no_real_number() -> None:
    delta = "/* a */ __device__ long long\ndelta(const Solution& s, int n, const Data&, Swap m) {"
    own = islands.permutation(4, cost=cost_text("return s[0];"), delta=f"{delta} return 0.5; }}")
    with pytest.raises(CompileError, match=r"returns a real number.*delta\.cu, line 2"):
        islands.solve(own, algorithm="ga", improver="swap", backend="cpu", generations=1)


@pytest.mark.slow
def test_a_cost_and_a_mutation_share_exact_functions() -> None:
    cost = cost_text("return exact::exp(s[0]) * exact::sin(s[1]);", "double")
    own = islands.real(-3, 3, 2, cost=cost, reference=lambda x: np.exp(x[:, 0]) * np.sin(x[:, 1]))
    few = {"generations": 3, "islands": 2, "population": 32, "backend": "cpu"}
    for mutation in ("polynomial", "gaussian"):
        result = islands.solve(own, algorithm="ga", mutation=mutation, **few)
        assert result.cost == pytest.approx(own.cost(result.solution), rel=1e-9)


DELTA = "__device__ long long delta(const Solution& s, int n, const Data&, Swap m) { return 0; }"


@pytest.mark.parametrize(
    ("make", "texts"),
    [
        (islands.permutation, {"cost": cost_text("return s[0];"), "delta": DELTA}),
        (islands.subset, {"cost": SHARED, "violation": SHARED, "state": SHARED + CHANGES}),
        (islands.subset, {"cost": SHARED + FIXED, "repair": SHARED + FIXED}),
    ],
)
def test_each_text_may_be_a_file(make: Any, texts: dict[str, str], tmp_path: Path) -> None:
    paths = {name: tmp_path / f"{name}.cu" for name in texts}
    for name, path in paths.items():
        path.write_text(texts[name])
    assert make(6, **paths).header == make(6, **texts).header
