"""Every program compiles for every GPU, on a machine that needs to have none."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import product

import pytest

from islands.backends.source import Source

pytestmark = pytest.mark.skipif(
    find_spec("cupy") is None, reason="CuPy, which brings NVRTC, is absent"
)

ARCHITECTURES = ["sm_80", "sm_90", "sm_100"]
METRICS = ["TSP_EUC_2D", "TSP_CEIL_2D", "TSP_ATT", "TSP_MATRIX"]
PLANS = [(2, 0), (2, 1), (3, 0), (8, 0)]
"""Parents of a child and the way to decode."""
CUTS = [
    {"ISLANDS_THREADS": "256", "ISLANDS_BLOCKS": "6"},
    {"ISLANDS_THREADS": "1024", "ISLANDS_BLOCKS": "1", "ISLANDS_GLOBAL_ARENA": "1"},
]


def programs() -> list[Source]:
    parts = {
        "ISLANDS_ENCODING": '"encodings/keys.cuh"',
        "ISLANDS_PROBLEM": '"problems/tsp.cuh"',
        "ISLANDS_IMPROVER": '"improvers/none.cuh"',
        "ENCODING_ASSIGNS": "0",
        "ISLANDS_ALGORITHM": '"algorithms/brkga.cuh"',
        "ISLANDS_DATA_BYTES": "sizeof(problem::Data)",  # Python is not asked here
        "ISLANDS_IMPROVING_BYTES": "sizeof(improver::Plan)",
        "ISLANDS_PLAN_BYTES": "sizeof(algorithm::Plan)",
    }
    found = [Source("check.cuh")]
    keys = {"ISLANDS_ENCODING": '"encodings/keys.cuh"', "KEYS_DECODING": "0"}
    keys["ENCODING_ASSIGNS"] = "0"
    found += [Source("population.cuh", {**keys, **cut}) for cut in CUTS]
    usual = list(product(METRICS, PLANS[:1], CUTS[:1]))
    for metric, (parents, decoding), cut in [*usual, *product(METRICS[:1], PLANS[1:], CUTS)]:
        plan = {"BRKGA_PARENTS": str(parents), "KEYS_DECODING": str(decoding)}
        found.append(Source("program.cuh", {**parts, **plan, "TSP_METRIC": metric, **cut}))
    qap = {"QAP_A": "unsigned char", "QAP_B": "unsigned short", "QAP_COST": "int"}
    qap |= {"ISLANDS_PROBLEM": '"problems/qap.cuh"', "PROBLEM_SWAPS": '"problems/qap_swaps.cuh"'}
    forms = [("1", "0", "int"), ("0", "1", "int64_t")]
    for (symmetric, diagonal, delta), cut in zip(forms, CUTS, strict=True):
        qap |= {"QAP_SYMMETRIC": symmetric, "QAP_DIAGONAL": diagonal, "QAP_DELTA": delta}
        for improver in ("tabu", "local"):
            plan = {"KEYS_DECODING": "2", "DE_STRATEGY": "0", "DE_ADAPTS": "1"}
            plan |= {"ENCODING_ASSIGNS": "1", "TABU_ASPIRATION": "1"}
            plan["IMPROVER_MOVE"] = "moves::Reversal"
            chosen = {"ISLANDS_IMPROVER": f'"improvers/{improver}.cuh"'}
            chosen["ISLANDS_ALGORITHM"] = '"algorithms/de.cuh"'
            found.append(Source("program.cuh", {**parts, **qap, **plan, **chosen, **cut}))
    return found


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("source", programs(), ids=lambda s: "-".join(list(s.defines.values())[3:]))
def test_program_compiles_to_machine_code(source: Source, architecture: str) -> None:
    from islands.backends.cuda import compiled

    code, digest = compiled(source, architecture, lambda path: path.read_bytes())
    assert code[:4] == b"\x7fELF"
    assert digest.encode() in code  # by which it is known when it is taken from the cache


def test_no_multiplication_is_fused_with_an_addition() -> None:
    from cupy.cuda import nvrtc

    from islands.backends.cuda import _OPTIONS

    program = nvrtc.createProgram(
        'extern "C" __global__ void f(float* a) { a[0] = a[1] * a[2] + a[3]; }', "f.cu", (), ()
    )
    nvrtc.compileProgram(program, (*_OPTIONS, "-arch=compute_90"))
    text = nvrtc.getPTX(program)
    text = text if isinstance(text, str) else text.decode()
    assert "fma" not in text
    assert ".ftz" not in text
    assert "mul" in text
