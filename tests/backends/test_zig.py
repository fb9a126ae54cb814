"""Zig's C++ compiler, replaced by a script: when it is used, and which messages appear."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from programs_for_tests import SCAN
from quick_compiler import in_scripts

from islands.backends import choose
from islands.backends.base import Block
from islands.backends.source import Source

pytestmark = pytest.mark.slow

# It compiles with the system's compiler, and records its mode and the cache folder of Zig. As Zig
# does, it leaves out data to which nothing refers.
ZIG = """#!/bin/sh
[ "$1" != version ] || { echo 9.8.7; exit; }
echo "$ZIG_GLOBAL_CACHE_DIR" >>"${0%/*}/caches"
mode=$1
echo "$mode" >>"${0%/*}/modes"
shift
[ "$mode" = c++ ] || set -- -nostdlib -Wl,--gc-sections "$@" -lm -lc
PATH='PLACES' exec REAL -fdata-sections "$@"
"""


@pytest.fixture
def zig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the script that replaces Zig on a machine without another compiler."""
    package = tmp_path / "site" / "ziglang"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    program = package / "zig"
    text = ZIG.replace("REAL", in_scripts()).replace("PLACES", os.environ["PATH"])
    program.write_text(text)
    program.chmod(0o755)
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.delitem(sys.modules, "ziglang", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    for name in ("CXX", "ZIG_GLOBAL_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    return program


def test_each_version_has_its_own_programs_and_runtime(zig: Path) -> None:
    cache = zig.parents[2] / "cache"
    choose("cpu").compile(SCAN, Block())
    zig.write_text(zig.read_text().replace("9.8.7", "9.8.8"))
    choose("cpu").compile(SCAN, Block())
    assert len(list((cache / "programs").rglob("*.so"))) == 2
    used = (zig.parent / "caches").read_text().splitlines()
    assert list(dict.fromkeys(used)) == [str(cache / "zig-9.8.7"), str(cache / "zig-9.8.8")]


def test_a_program_that_needs_the_library_of_cpp_gets_it(zig: Path, tmp_path: Path) -> None:
    entry = tmp_path / "grows.cuh"
    entry.write_text(
        '#include "core/compiler.cuh"\n#include <vector>\n'
        "KERNEL(count, (int* counted, int n)) { *counted = std::vector<int>(n).size(); }\n"
    )
    backend = choose("cpu")
    counted = np.zeros(1, np.int32)
    program = backend.compile(Source(str(entry)), Block())
    assert (zig.parent / "modes").read_text().split() == ["c++", "cc", "c++"]
    backend.run([backend.call(program, "count", counted, np.int32(7), blocks=1)])
    assert counted[0] == 7
