"""Programs do nothing that C++ leaves undefined, and keep to the working memory that they declare.

UndefinedBehaviorSanitizer sees the one, and a shelf that checks its bounds the other.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from small_runs import RUNS

from islands.backends.cpu import compiler

_REPORTS_HERE = {"UBSAN_OPTIONS": ""}
_WATCHED = ["-fsanitize=undefined", "-fno-sanitize-recover=undefined"]
# A shelf that lies nowhere counts from a null pointer, which is undefined to clang, but not to GCC.
_OF_CLANG = ["-fno-sanitize=pointer-overflow"]
_SHIFTS = 'extern "C" int shifted(int number, int by) { return number << by; }\n'
_SHIFT = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).shifted(1, int(sys.argv[2])))"


@pytest.fixture(scope="module")
def watching(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a C++ compiler whose programs end the process where they do what is undefined."""
    command, version = compiler()
    words = [*command, *_WATCHED, *(_OF_CLANG if "clang" in version else [])]
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
        pytest.skip(f"libraries of {words[0]} that are watched cannot be loaded: {sound.stderr}")
    here = os.environ | _REPORTS_HERE
    undefined = subprocess.run([*line, "40"], text=True, capture_output=True, env=here)
    assert undefined.returncode != 0
    assert "shift exponent 40 is too large" in undefined.stderr
    return shlex.join(words)


@pytest.mark.parametrize("name", RUNS)
def test_small_runs_do_nothing_undefined_and_keep_to_their_memory(name: str, watching: str) -> None:
    script = str(Path(__file__).with_name("small_runs.py"))
    done = subprocess.run(
        [sys.executable, script, name],
        text=True,
        capture_output=True,
        env=os.environ | _REPORTS_HERE | {"CXX": watching},
    )
    assert (done.returncode, done.stderr) == (0, "")


FAULTS = [
    (
        *("tabu", "crossovers/masked.cuh"),
        *("take<uint32_t>((genes::items(shape) + 31) / 32)", "take<uint32_t>(0)"),
        "something was written behind a part",
    ),
    (
        *("exchange", "improvers/sides.cuh"),
        *("side_(shelf.take<int32_t>(count_))", "side_(shelf.take<int32_t>(count_ - 4))"),
        "something was written behind a part",
    ),
    (
        *("swarm", "problems/mkp.cuh"),
        *("Knapsack knapsack = Desk(", "shelf.take<int64_t>(4096);\n    Knapsack knapsack = Desk("),
        "more is taken than was asked for",
    ),
]
"""Small runs with a fault in one of the kernels, and what is said of it."""


@pytest.mark.parametrize(("name", "file", "old", "new", "said"), FAULTS)
def test_a_part_that_is_too_small_is_found(
    name: str, file: str, old: str, new: str, said: str
) -> None:
    script = str(Path(__file__).with_name("small_runs.py"))
    done = subprocess.run(
        [sys.executable, script, name, file, old, new], text=True, capture_output=True
    )
    # Both threads may find it.
    assert (done.returncode, {*done.stderr.splitlines()}) == (9, {f"checked shelf: {said}"})
