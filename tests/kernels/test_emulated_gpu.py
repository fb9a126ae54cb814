"""An emulated GPU gives the bits of the CPU, in whatever order the threads of a block take turns.

It finds missing barriers and threads that diverge, on machines without a GPU.
"""

import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import ran
from quick_compiler import for_long_runs
from small_runs import RUNS
from standing_ranks import StandingRanks

pytestmark = pytest.mark.slow

ORDERS = {"CPU", "descending", "random"}


SEVERAL_WALKS = ("eax/cycles.cuh", "PER_WALK = 512", "PER_WALK = 8")
"""Several walks at the same time, which otherwise need a pair that differs at 1,024 places."""
LONG_CYCLES = ("eax/child.cuh", "LONG_CYCLE = 48", "LONG_CYCLE = 2")
"""Heavy children, most of which otherwise need more cities."""


_LONG_RUNS = ("shop", "flexible shop", "many cities", "tiles", "core")

SCRIPT = str(Path(__file__).parents[1] / "helpers" / "small_runs.py")


@functools.cache
def _run(
    name: str, *faults: tuple[str, str, str], crowded: bool = False
) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, SCRIPT, name, "--emulated", *(["--crowded"] if crowded else [])]
    for fault in faults:
        line += ["--replace", *fault]
    quick = os.environ.get("CXX", "c++")
    environment = os.environ | {"CXX": for_long_runs() if name in _LONG_RUNS else quick}
    return ran(*line, env=environment, timeout=None)


def _digests(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    return dict(line.split() for line in done.stdout.splitlines())


def _common_digest(done: subprocess.CompletedProcess[str]) -> str:
    """Return the digest of a run, which is that of the CPU in any order of threads."""
    assert (done.returncode, done.stderr) == (0, "")
    digests = _digests(done)
    assert digests.keys() == ORDERS
    assert len({*digests.values()}) == 1, digests
    return digests["CPU"]


def _require_seen(done: subprocess.CompletedProcess[str]) -> None:
    """Require that a fault changed results or ended the process by a signal, as wrong indices do.

    A Python error, for example if the text to replace is missing, is not a proof.
    """
    changed = done.returncode == 0 and len({*_digests(done).values()}) > 1
    assert changed or done.returncode < 0, done.stderr


@pytest.mark.parametrize("name", RUNS)
def test_threads_in_any_order_give_the_bits_of_the_cpu(name: str) -> None:
    _common_digest(_run(name))


@pytest.mark.parametrize("name", ["eax", "directed", "memetic", "tempering", "core", "order"])
def test_ranks_that_share_islands_give_the_bits_of_one_rank(
    standing_ranks: StandingRanks, name: str
) -> None:
    done = standing_ranks.run(4, SCRIPT, name, "--emulated")
    assert _common_digest(done) == _common_digest(_run(name))


def test_several_walks_of_a_pair_give_the_bits_of_the_cpu() -> None:
    assert _common_digest(_run("eax", SEVERAL_WALKS)) != _common_digest(_run("eax"))


@pytest.mark.parametrize("crowded", [False, True])
def test_heavy_children_give_the_bits_of_the_cpu(*, crowded: bool) -> None:
    _common_digest(_run("eax", LONG_CYCLES, crowded=crowded))


_BARRIER = "__syncthreads();"
_LABELS, _KEPT = "size[r] = 0;\n        }\n", "rank_[k] = rank, at[rank] = own_[k];\n        }\n"
_SHARED, _COUNTED = "now_ = *shared_;", "room.count[w] = count;\n    }\n"
BARRIERS: dict[str, list[tuple[str, str, str]]] = {
    "sub-tours": [("eax/sub_tours.cuh", f"{_LABELS}        {_BARRIER}", _LABELS)],
    "chosen children": [("eax/choice.cuh", f"{_KEPT}        {_BARRIER}\n", _KEPT)],
    "mergers": [LONG_CYCLES, ("eax/merging.cuh", f"{_BARRIER}\n            {_SHARED}", _SHARED)],
    "walks": [SEVERAL_WALKS, ("eax/cycles.cuh", f"{_COUNTED}    {_BARRIER}", _COUNTED)],
}


@pytest.mark.parametrize("place", BARRIERS)
def test_a_missing_barrier_changes_results(place: str) -> None:
    _require_seen(_run("eax", *BARRIERS[place]))


_READ = "__syncthreads();  // every thread has read the stage"
_ELSEWHERE = "a warp waits for a thread that is elsewhere or has ended"
DIVERGENT = {
    "the first lanes wait at a barrier": (
        "core/block.cuh",
        "if (lane() == 0) partial[warp()] = of_warp;\n    __syncthreads();",
        "if (lane() == 0) {\n        partial[warp()] = of_warp;\n        __syncthreads();\n    }",
        _ELSEWHERE,
    ),
    "one thread ends early": (
        "eax/stages.cuh",
        _READ,
        "if (threadIdx.x == 40) return;\n    block::sum(int32_t(0));",
        _ELSEWHERE,
    ),
    "two barriers": (
        "eax/stages.cuh",
        _READ,
        "if (threadIdx.x < 32) {\n__syncthreads();\n} else {\n__syncthreads();\n}",
        "threads wait at two places",
    ),
}
"""Faults by which threads diverge: a kernel, a text to replace, and the message."""


@pytest.mark.parametrize("fault", DIVERGENT)
def test_divergent_threads_end_the_process(fault: str) -> None:
    *replace, message = DIVERGENT[fault]
    done = _run("eax", tuple(replace))
    assert done.returncode < 0  # aborted
    assert re.match(rf"emulated GPU: block \d+: {message}\n", done.stderr)
