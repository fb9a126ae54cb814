"""Messages of a run: its header, those before compilation, and those of long generations."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands_for_tests import Patch
from programs_for_tests import SCAN

from islands.backends.cache import Compiling
from islands.run.build import forget_devices

COMPILES = "compiling the kernels (once)"
ABOUT = "compiling the kernels (about {} s, once)"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: Patch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    forget_devices()  # with the programs that other tests have compiled
    return tmp_path / "cache"


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
