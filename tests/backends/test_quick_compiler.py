"""The compiler of the tests uses the system headers that it has compiled once."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from quick_compiler import quick_compiler

from islands.backends.cpu import CpuBackend
from islands.backends.source import Source


def test_programs_use_compiled_system_headers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not shutil.which("c++"):
        pytest.skip("no c++ found")
    words = shlex.split(quick_compiler("c++"))
    if "-include" not in words:
        pytest.skip("c++ is not GCC")
    header = words[words.index("-include") + 1]
    monkeypatch.setenv("CXX", shlex.join([*words, "-H"]))
    own = CpuBackend(1)
    line = [*own._compiler, *own._options, "-x", "c++", "-o", str(tmp_path / "program.so"), "-"]
    line[-3:-3] = Source("core/host.hpp").options()
    text = '#include "core/host.hpp"\n'
    done = subprocess.run(line, input=text, text=True, capture_output=True, check=True)
    read = done.stderr.splitlines()
    assert f"! {header}.gch" in read
    assert not [each for each in read if each.endswith("/bits/stl_algo.h")]
