"""Messages of a run: its header, those before compilation, and those of long generations."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from commands_for_tests import Capture, Patch
from epochs_for_tests import Slow as SlowArchipelago
from epochs_for_tests import run as evolved
from fakes import FakeArchipelago, FakeProblem, Silent
from programs_for_tests import SCAN
from quick_compiler import in_scripts

from islands.backends.cache import Compiling
from islands.cli import main
from islands.configuration.resolve import layers, resolve
from islands.display.messages import Slow
from islands.progress.progress import Progress
from islands.run.build import forget_devices
from islands.run.observers import Printing

RUN = ["run", "demo/tsp", "--population", "16", "--islands", "2", "--backend", "cpu"]
RUN += ["--threads", "1", "--stop", "generations=2", "--improver", "none"]
_WAITS = """#!/bin/sh
[ "$1" = --version ] || while [ ! -e {go} ]; do sleep 0.05; done
exec {real} "$@"
"""
COMPILES = "compiling the kernels (once)"
ABOUT = "compiling the kernels (about {} s, once)"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: Patch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    forget_devices()  # with the programs that other tests have compiled
    return tmp_path / "cache"


def said(capsys: Capture, *line: str) -> list[str]:
    assert main([*RUN, *line]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("speech", [[], ["--json"]])
def test_the_first_lines_are_printed_before_compilation_ends(
    speech: list[str], tmp_path: Path, monkeypatch: Patch
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
    assert lines[3] == f"{COMPILES}\n"
    assert process.returncode == 0
    assert rest.count('{"instance"') == len(speech)


@pytest.mark.slow
def test_cached_programs_are_not_reported_as_compiled(cache: Path, capsys: Capture) -> None:
    first = said(capsys, "--out", "a")
    assert [line for line in first if line.startswith("compiling")] == [COMPILES]
    assert any(line.startswith("kernels compiled in ") for line in first)
    assert first == [
        line for line in Path("a/log.txt").read_text().splitlines() if "   pid " not in line
    ]
    again = said(capsys, "--out", "b")
    assert not [line for line in again if line.startswith("compiling")]
    assert "kernels loaded from the cache" in again
    estimates = cache / "compile-seconds-cpu.json"
    ((kind, (seconds, _)),) = json.loads(estimates.read_text()).items()
    assert 0 < seconds < 600
    # The measured time is the estimate for programs of this kind, and by their size for others.
    shutil.rmtree(cache / "programs")
    for others, about in (["--set", "children=7"], 42), (["--algorithm", "de"], 1):
        forget_devices()
        estimates.write_text(json.dumps({kind: [41.6, 10**9]}))
        lines = said(capsys, "--out", f"c{about}", *others)
        assert [line for line in lines if line.startswith("compiling")] == [ABOUT.format(about)]
    found = json.loads(estimates.read_text())
    assert found[kind][0] == 41.6  # of the other kind
    assert len(found) == 2


_DAMAGED = ("", "\0", "[]", '{"a": 1}', '{"a": [-1, 5]}', '{"a": [1, 0]}', '{"a": [NaN, 5]}')
_DAMAGED += ('{"a": [1e999, 5]}', '{"a": ["x", []]}')


@pytest.mark.parametrize("content", _DAMAGED)
def test_damaged_estimates_are_ignored_and_replaced(cache: Path, content: str) -> None:
    cache.mkdir(mode=0o700)
    (cache / "compile-seconds-cpu.json").write_text(content)
    compiling, reported = Compiling("cpu"), list[str]()
    compiling.tell = reported.append
    compiling.expect("a kind", SCAN)
    compiling.begin(SCAN)
    assert reported == [COMPILES]
    compiling.took(2.5)
    again = Compiling("cpu")
    again.tell = reported.append
    again.expect("a kind", SCAN)
    again.begin(SCAN)
    assert reported[1:] == [ABOUT.format(2)]


class AtWork(FakeArchipelago):
    """Islands with a given number of completed individuals."""

    is_on_cpu = True

    def made(self) -> int:
        """Return the number of completed individuals."""
        return 31


def slow(islands: AtWork, clock: SimpleNamespace, monkeypatch: Any, **options: Any) -> Slow:
    tick = SimpleNamespace(perf_counter=lambda: clock.now)
    monkeypatch.setattr("islands.display.messages.time", tick)
    spec = resolve(layers({"islands": 2, "population": 256, **options}), FakeProblem())
    return Slow(islands, spec, clock.said.append, "function= of mine")  # type: ignore[arg-type]


def test_a_generation_of_more_than_five_seconds_is_reported(monkeypatch: Patch) -> None:
    clock, islands = SimpleNamespace(now=100.0, said=[]), AtWork()
    looks = slow(islands, clock, monkeypatch)
    for now in (100, 107):
        clock.now = now
        looks.look()  # no generation is running
    islands.ahead = range(2, 3)
    for now in (108, 112.9, 113, 114, 118):
        clock.now = now
        looks.look()
    first, second = clock.said
    assert first.startswith("  generation 2, 31 of 512 individuals after 5 s. To shorten it: ")
    assert second == "  generation 2, 31 of 512 individuals after 10 s"
    islands.ahead = range(3, 5)
    for now in (119, 124):
        clock.now = now
        looks.look()
    assert clock.said[2:] == ["  generations 3 to 4 after 5 s"]


def test_a_generation_that_completes_meanwhile_is_not_reported(monkeypatch: Patch) -> None:
    class JustDone(AtWork):
        """Completes its generation during the call."""

        def made(self) -> int:
            self.ahead = range(0)
            return 512

    clock, islands = SimpleNamespace(now=0.0, said=[]), JustDone()
    looks = slow(islands, clock, monkeypatch)
    islands.ahead = range(2, 3)
    for clock.now in (1.0, 6.5):
        looks.look()
    assert clock.said == []


def test_an_evaluation_that_does_not_return_is_reported_at_the_end(
    monkeypatch: Patch, capsys: Capture
) -> None:
    clock, islands = SimpleNamespace(now=0.0, said=[]), AtWork()
    looks = slow(islands, clock, monkeypatch)
    islands.ahead = range(1)
    said = dict[float, str]()
    for clock.now in (0.0, 6.0, 7.0, 8.0, 9.0, 11.0, 14.0, 20.0):
        looks.look(is_over=clock.now > 6 and clock.now != 8)
        said[clock.now] = capsys.readouterr().err
    assert [now for now, words in said.items() if words] == [14.0]  # also if the run is quiet
    assert f"kill -9 {os.getpid()}" in said[14.0]


def test_progress_is_shown_between_distant_visits(monkeypatch: Patch) -> None:
    class Seen(Silent):
        """Collects the progress."""

        def show(self, progress: Progress) -> None:
            shown.append(progress)

    shown: list[Progress] = []
    options = {"stop": "generations=20", "record.every": 20}
    plain = evolved(options, FakeProblem(), archipelago=SlowArchipelago(monkeypatch, seconds=0.5))
    viewed = evolved(
        options,
        FakeProblem(),
        archipelago=SlowArchipelago(monkeypatch, seconds=0.5),
        others=[Printing(Seen())],  # type: ignore[arg-type]
    )
    assert [each.generation for each in shown] == [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20]
    assert [each.cost for each in shown] == [1000 - each.generation for each in shown]
    assert viewed[2] == plain[2]
