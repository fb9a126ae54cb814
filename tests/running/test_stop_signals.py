"""Signals to processes that run a long generation or the compiler."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from problems_for_tests import cities

pytestmark = pytest.mark.slow

SLOW = [
    *("--algorithm", "brkga", "--improver", "tabu", "--set", "improver.steps=50000"),
    *("--islands", "2", "--population", "48", "--backend", "cpu", "--threads", "1"),
]
"""With 80 cities, a generation takes many seconds."""
EVERY_OTHER = [*SLOW, "--set", "improver.every=2"]


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_signal_abandons_only_the_current_generation(
    ranks: int, tmp_path: Path, mpirun: list[str]
) -> None:
    cities(80, tmp_path).path.rename(tmp_path / "many.tsp")  # type: ignore[union-attr]
    launch = [*mpirun, str(ranks)] if ranks > 1 else []
    line = [*launch, sys.executable, "-m", "islands"]
    started = [*line, "run", str(tmp_path / "many.tsp"), *EVERY_OTHER]
    started += ["--out", str(tmp_path / "a")]
    with subprocess.Popen(
        [*started, "--stop", "generations=2"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for shown in process.stdout:
            if shown.lstrip("*C ").startswith("0 "):
                break
        time.sleep(1)
        began = time.perf_counter()
        process.send_signal(signal.SIGUSR1)
        status = process.wait(60)
    assert status == 75
    assert time.perf_counter() - began < 9
    resumed = done("resume", str(tmp_path / "a"))
    whole = done("run", str(tmp_path / "many.tsp"), *EVERY_OTHER, "--out", str(tmp_path / "b"))
    assert resumed["generations"] == whole["generations"] == 1
    assert resumed["digest"] == whole["digest"]


def done(*line: str) -> dict[str, Any]:
    """Return the result of a command that ends with generation 1."""
    command = [sys.executable, "-m", "islands", *line, "--json", "--stop", "generations=1"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(ran.stdout))


def test_a_signal_while_programs_are_compiled_ends_the_run_and_its_compilers(
    tmp_path: Path,
) -> None:
    compiler = tmp_path / "slow-c++"
    compiler.write_text(
        f"#!{sys.executable}\nimport os, sys, time\n"
        "if '--version' not in sys.argv: time.sleep(60)\n"
        "os.execvp('c++', ['c++', *sys.argv[1:]])\n"
    )
    compiler.chmod(0o755)
    line = [sys.executable, "-m", "islands", "run", "demo/tsp", "--backend", "cpu"]
    with subprocess.Popen(
        [*line, "--algorithm", "brkga", "--improver", "none", "--out", str(tmp_path / "a")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "CXX": str(compiler), "ISLANDS_CACHE": str(tmp_path / "cache")},
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        for shown in process.stdout:
            if shown.startswith("compiling"):
                break
        time.sleep(0.5)
        began = time.perf_counter()
        os.killpg(process.pid, signal.SIGTERM)
        process.stdout.read()  # to its end: no compiler has it open any more
        assert process.wait(60) == 75
    assert time.perf_counter() - began < 4
    assert not (tmp_path / "a").exists()
