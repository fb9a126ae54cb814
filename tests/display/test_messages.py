"""Messages of a run: its header, those before compilation, and those of long generations."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from commands_for_tests import Capture, Patch
from fakes import FakeArchipelago, FakeProblem
from programs_for_tests import SCAN

from islands.backends.cache import Compiling
from islands.cli import main
from islands.configuration.resolve import layers, resolve
from islands.display.messages import Slow
from islands.run.build import forget_devices

RUN = ["run", "demo/tsp", "--population", "16", "--islands", "2", "--backend", "cpu"]
RUN += ["--threads", "1", "--stop", "generations=2", "--improver", "none"]
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
