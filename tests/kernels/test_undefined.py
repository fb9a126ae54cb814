"""Programs have no undefined behaviour and stay within the scratch memory that they declare.

UndefinedBehaviorSanitizer finds the first, a `Scratch` with checked bounds the second.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from ready_python import ready_python
from small_runs import RUNS

from islands.backends.cpu import compiler

_REPORT_TO_STDERR = {"UBSAN_OPTIONS": ""}
_SANITIZED = ["-fsanitize=undefined", "-fno-sanitize-recover=undefined"]
# A `Scratch` without memory counts from a null pointer: undefined for clang, but not for GCC.
_ONLY_CLANG = ["-fno-sanitize=pointer-overflow"]
_SHIFTS = 'extern "C" int shifted(int number, int by) { return number << by; }\n'
_SHIFT = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).shifted(1, int(sys.argv[2])))"


@pytest.fixture(scope="module")
def sanitizer(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a C++ compiler whose programs end the process at undefined behaviour."""
    command, version = compiler()
    words = [*command, *_SANITIZED, *(_ONLY_CLANG if "clang" in version else [])]
    library = tmp_path_factory.mktemp("shift") / "shift.so"
    made = subprocess.run(
        [*words, "-shared", "-fPIC", "-x", "c++", "-", "-o", str(library)],
        input=_SHIFTS,
        text=True,
        capture_output=True,
    )
    if made.returncode != 0:
        pytest.skip(f"{words[0]} has no UndefinedBehaviorSanitizer: {made.stderr.strip()[:100]}")
    line = [sys.executable, "-c", _SHIFT, str(library)]
    sound = subprocess.run([*line, "5"], text=True, capture_output=True)
    if sound.stdout != "32\n":
        pytest.skip(f"sanitized libraries of {words[0]} cannot be loaded: {sound.stderr}")
    environment = os.environ | _REPORT_TO_STDERR
    undefined = subprocess.run([*line, "40"], text=True, capture_output=True, env=environment)
    assert undefined.returncode != 0
    assert "shift exponent 40 is too large" in undefined.stderr
    return shlex.join(words)


@pytest.mark.parametrize("name", RUNS)
def test_small_runs_have_no_undefined_behaviour_or_overrun(name: str, sanitizer: str) -> None:
    script = str(Path(__file__).parents[1] / "helpers" / "small_runs.py")
    done = subprocess.run(
        [*ready_python(), script, name],
        text=True,
        capture_output=True,
        env=os.environ | _REPORT_TO_STDERR | {"CXX": sanitizer},
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_several_walks_of_a_pair_stay_within_their_scratch() -> None:
    script = str(Path(__file__).parents[1] / "helpers" / "small_runs.py")
    replace = ("eax/cycles.cuh", "PER_WALK = 512", "PER_WALK = 8")
    line = [*ready_python(), script, "eax", "--replace", *replace]
    done = subprocess.run(line, text=True, capture_output=True)
    assert (done.returncode, done.stderr) == (0, "")


FAULTS = [
    (
        *("tabu", "crossovers/masked.cuh"),
        *("take<uint32_t>((genes::items(shape) + 31) / 32)", "take<uint32_t>(0)"),
        "written past the end of a part",
    ),
    (
        *("exchange", "improvers/sides.cuh"),
        *("side_(scratch.take<int32_t>(count_))", "side_(scratch.take<int32_t>(count_ - 4))"),
        "written past the end of a part",
    ),
    (
        *("swarm", "problems/mkp.cuh"),
        *("    Knapsack knapsack =", "    scratch.take<int64_t>(4096);\n    Knapsack knapsack ="),
        "more taken than requested",
    ),
]
"""Small runs with a fault in one kernel, and the expected message."""


@pytest.mark.parametrize(("name", "file", "old", "new", "message"), FAULTS)
def test_a_scratch_overrun_is_found(name: str, file: str, old: str, new: str, message: str) -> None:
    script = str(Path(__file__).parents[1] / "helpers" / "small_runs.py")
    done = subprocess.run(
        [*ready_python(), script, name, "--replace", file, old, new], text=True, capture_output=True
    )
    # Both threads may report it.
    assert done.returncode == 9
    assert {*done.stderr.splitlines()} == {f"checked scratch memory: {message}"}
