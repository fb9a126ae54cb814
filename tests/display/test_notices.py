"""Messages before compilation: they are printed at once, and also written to the log."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from quick_compiler import in_scripts

from islands.backends.cache import Compiling
from islands.cli import main

RUN = ["run", "demo/tsp", "--population", "16", "--islands", "2", "--backend", "cpu"]
RUN += ["--threads", "1", "--stop", "generations=2", "--improver", "none"]
_WAITS = """#!/bin/sh
[ "$1" = --version ] || while [ ! -e {go} ]; do sleep 0.05; done
exec {real} "$@"
"""
COMPILES = "compiling the kernels (about {} s, once)"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def said(capsys: pytest.CaptureFixture[str], *line: str) -> list[str]:
    assert main([*RUN, *line]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("speech", [[], ["--json"]])
def test_the_first_lines_are_printed_before_compilation_ends(
    speech: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, go = tmp_path / "compiler", tmp_path / "go"
    script.write_text(_WAITS.format(go=go, real=in_scripts()))
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))
    command = [sys.executable, "-m", "islands", *RUN, *speech]
    began = time.monotonic()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        stream = process.stderr if speech else process.stdout
        assert stream is not None
        lines = [stream.readline() for _ in range(4)]
        assert time.monotonic() - began < 20  # about 1 s on an idle machine
        assert not Path("runs").exists()
        go.touch()
        rest, _ = process.communicate(timeout=60)
    assert lines[0].startswith("islands ")
    assert lines[1] == "eax on permutation   2 islands x 16   seed 1\n"
    assert lines[2] == "stops at: 2 generations\n"
    assert lines[3] == f"{COMPILES.format(3)}\n"
    assert process.returncode == 0
    assert rest.count('{"instance"') == len(speech)


def test_cached_programs_are_not_reported_as_compiled(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = said(capsys, "--out", "a")
    assert [line for line in first if line.startswith("compiling")] == [COMPILES.format(3)]
    assert any(line.startswith("kernels compiled in ") for line in first)
    assert first == [
        line for line in Path("a/log.txt").read_text().splitlines() if "   pid " not in line
    ]
    assert not [line for line in said(capsys, "--out", "b") if line.startswith("compiling")]
    # The measured time is the estimate for the next compilation.
    (cache / "compile-seconds-cpu").write_text("41.6\n")
    other = said(capsys, "--out", "c", "--algorithm", "de")
    assert [line for line in other if line.startswith("compiling")] == [COMPILES.format(42)]
    assert float((cache / "compile-seconds-cpu").read_text()) < 41


@pytest.mark.parametrize("content", ["inf", "nan", "-1e999", "", "\0"])
def test_a_damaged_estimate_is_ignored(cache: Path, content: str) -> None:
    cache.mkdir()
    (cache / "compile-seconds-cpu").write_text(content)
    compiling, reported = Compiling("cpu", 3.0), list[str]()
    compiling.tell = reported.append
    compiling.begin()
    assert reported == [COMPILES.format(3)]


def test_quiet_runs_only_log_the_messages(capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "--out", "a", "--quiet")
    assert lines[0].startswith("Stopped: ")
    log = Path("a/log.txt").read_text()
    assert log.startswith("islands ")
    assert COMPILES.format(3) in log
