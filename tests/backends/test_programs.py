"""Every program compiles for every GPU, on a machine without one."""

from itertools import cycle, product

import pytest
from numpy_flips import sparse_pairs
from problems_for_tests import facilities, flat, lattice, streets
from programs_for_tests import CHECKS, for_gpu, parts, require_machine_code

from islands.backends.base import Block
from islands.backends.source import Source
from islands.instances.grids import grid
from islands.models import max_cut
from islands.problems.qap import Qap

pytestmark = pytest.mark.gpu

ARCHITECTURES = ["sm_80", "sm_90", "sm_100"]
METRICS = ["EUC_2D", "CEIL_2D", "ATT", "GEO"]  # the last one uses a matrix
PLANS = [(2, "sorted"), (2, "plain"), (3, "sorted"), (8, "sorted")]
"""Numbers of parents of a child, and decodings."""
BLOCKS = [Block(256, 6), Block(1024, 1, spill=1)]


def programs() -> dict[str, Source]:
    """Return programs of the parts of a run, by name."""
    found = {"check": CHECKS}
    tours = lattice("EUC_2D")
    for block in BLOCKS:
        for algorithm, encoding in (("brkga", "keys"), ("ga", "permutation")):
            macros = parts(tours, algorithm, encoding).encoding_macros()
            name = f"population-{encoding}-{block.threads}"
            found[name] = for_gpu("population.cuh", macros, block)
    usual = product(METRICS, PLANS[:1], BLOCKS[:1])
    for metric, (parents, decoding), block in [*usual, *product(METRICS[:1], PLANS[1:], BLOCKS)]:
        settings = {"parents": parents, "bias": "rho" if parents == 2 else "constant"}
        chosen = parts(lattice(metric), "brkga", "keys", settings, decoding=decoding)
        name = f"brkga-{metric}-{parents}-{decoding}-{block.threads}"
        found[name] = for_gpu("program.cuh", chosen.macros(), block)
    for metric in METRICS:
        macros = {**lattice(metric).defines(), "ISLANDS_PROBLEM": lattice(metric).header}
        found[f"bounds-{metric}"] = for_gpu("bounds/shorter_edges.cuh", macros, Block(128))
    directed, joined = streets(9), streets(9, symmetric=True, start=1)
    for problem, encoding in ((directed, "doubled"), (joined, "permutation")):
        chosen = parts(problem, "eax", encoding)
        found[f"eax-{encoding}"] = for_gpu("program.cuh", chosen.macros(), BLOCKS[0])
    narrow, wide = (
        flat(9, 300 * 72),
        facilities(9, symmetric="neither", diagonal=True, largest=70_000),
    )
    for problem, block in zip((narrow, wide), BLOCKS, strict=True):
        for improver in ({"name": "tabu", "aspiration": 9}, {"name": "two_opt"}):
            chosen = parts(problem, "de", "keys", {"adaptation": "jde"}, improver)
            name = f"de-{problem.defines()['QAP_DELTA']}-{improver['name']}-{block.threads}"
            found[name] = for_gpu("program.cuh", chosen.macros(), block)
    chains = parts(narrow, "tempering", "permutation", {"rungs": 4})
    found["pairs"] = for_gpu("program.cuh", chains.macros(), Block(64))
    for largest in (10, 2**27):  # numbers of 32 and of 64 bits
        growth = parts(Qap(grid(5, 8, largest=largest).file()), "growth", "permutation")
        found[f"growth-{largest}"] = for_gpu("program.cuh", growth.macros(), Block(512))
        large = Qap(grid(32, 34, largest=largest).file())
        chains = parts(large, "tempering", "permutation", {"rungs": 4})
        found[f"sparse-{largest}"] = for_gpu("program.cuh", chains.macros(), Block(64))
    flips = parts(max_cut(sparse_pairs(600, 1200)), "tempering", "bits", {"rungs": 2})
    found["flips"] = for_gpu("program.cuh", flips.macros(), Block(1024))
    return found


PROGRAMS = programs()
OPTIMISED = ("check", "population-keys-256", "brkga-EUC_2D-2-sorted-256", "de-int-tabu-256")
"""Those that are compiled as for users: of each kind one."""


# Each takes half a second, so that the architectures take turns.
@pytest.mark.parametrize(("name", "architecture"), list(zip(PROGRAMS, cycle(ARCHITECTURES))))
def test_program_compiles_to_machine_code(name: str, architecture: str) -> None:
    require_machine_code(PROGRAMS[name], architecture, optimised=name in OPTIMISED)


def test_multiplications_and_additions_are_not_fused() -> None:
    from cupy.cuda import nvrtc

    from islands.backends.cuda import OPTIONS

    program = nvrtc.createProgram(
        'extern "C" __global__ void f(float* a) { a[0] = a[1] * a[2] + a[3]; }', "f.cu", (), ()
    )
    nvrtc.compileProgram(program, (*OPTIONS, "-arch=compute_90"))
    text = nvrtc.getPTX(program)
    text = text if isinstance(text, str) else text.decode()
    assert "fma" not in text
    assert ".ftz" not in text
    assert "mul" in text
