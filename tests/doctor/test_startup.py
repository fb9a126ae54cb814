"""The time from the command to the first row, by step."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from checkups import checkup, place

from islands.doctor.report import as_json, as_text
from islands.doctor.startup import Startup, timed_start

STEPS = ["python", "imports", "instance", "device", "programs", "generation 0"]


def test_the_steps_add_up_to_the_time_of_a_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path))
    began = time.monotonic()
    first = timed_start("cpu")
    elapsed = time.monotonic() - began
    assert first is not None
    assert list(first.seconds) == STEPS
    assert all(each > 0 for each in first.seconds.values())
    assert 0.3 * elapsed < first.total <= elapsed
    again = timed_start("cpu")
    assert again is not None
    assert (first.compiled, again.compiled) == (True, False)
    assert again.seconds["programs"] < first.seconds["programs"]


def test_a_failed_start_has_no_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert timed_start("cpu") is None


def test_the_steps_are_shown() -> None:
    seconds = dict(zip(STEPS, (0.02, 0.25, 0.01, 0.03, 1.5, 0.04), strict=True))
    made = replace(checkup([place(0)], [], []), startup=Startup("cpu", seconds, compiled=True))
    lines = as_text(made).splitlines()
    first = lines.index("Time from the command to the first row (demo/tsp on cpu): 1.85 s.")
    assert lines[first + 5] == "    1.50 s   programs, compiled"
    assert json.loads(as_json(made))["startup"]["seconds"]["imports"] == 0.25
