"""Kernels behave as defined, have no races, and stay within the memory that they declare.

Sanitizers of the C++ compiler find the first two, a `Scratch` with checked bounds the third.
"""

import os
import sys
from pathlib import Path

import pytest
from jobs import ran
from sanitizers import Tool
from small_runs import RUNS

_TESTS = Path(__file__).parents[1]
_SMALL_RUNS = str(_TESTS / "helpers" / "small_runs.py")

pytestmark = pytest.mark.slow  # each compiles programs for a sanitizer


@pytest.mark.parametrize("name", RUNS)
def test_small_runs_have_no_undefined_behaviour_or_overrun(name: str) -> None:
    environment = os.environ | Tool.of("undefined").environment
    done = ran(sys.executable, _SMALL_RUNS, name, env=environment, timeout=None)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("tool", ["address", "thread"])
def test_a_run_of_each_kind_of_kernels_has_no_invalid_access_or_race(tool: str) -> None:
    done = ran(sys.executable, _TESTS / "sanitize", "--tool", tool, "--few", timeout=None)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_several_walks_of_a_pair_stay_within_their_scratch() -> None:
    replace = ("eax/cycles.cuh", "PER_WALK = 512", "PER_WALK = 8")
    done = ran(sys.executable, _SMALL_RUNS, "eax", "--replace", *replace, timeout=None)
    assert (done.returncode, done.stderr) == (0, "")
