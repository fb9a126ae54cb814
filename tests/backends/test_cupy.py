"""CuPy's import, which makes a folder, where the home folder cannot be written."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(find_spec("cupy") is None, reason="CuPy is absent")

_LOOK = """
from islands.backends import automatic
from islands.errors import InputError
try:
    print(automatic()[1])
except InputError as error:
    print("refused:", error)
"""
_FROM_ELSEWHERE = ("CUPY_CACHE_DIR", "ISLANDS_CACHE", "XDG_CACHE_HOME")


def looked(home: str, **more: str) -> str:
    """Return what a process says of GPUs whose home folder is this."""
    usual = {name: value for name, value in os.environ.items() if name not in _FROM_ELSEWHERE}
    done = subprocess.run(
        [sys.executable, "-c", _LOOK],
        env={**usual, "HOME": home, **more},
        text=True,
        capture_output=True,
        check=True,
    )
    return done.stdout.strip()


def test_its_folder_is_in_our_cache(tmp_path: Path) -> None:
    cache, home = tmp_path / "cache", tmp_path / "home"
    home.mkdir()
    for place in (os.devnull, str(home)):
        assert "found" in looked(place, ISLANDS_CACHE=str(cache))
        assert [path.name for path in cache.iterdir()] == ["cupy"]
    # The driver of a GPU keeps a folder of its own there.
    assert [path.name for path in home.iterdir() if path.name != ".nv"] == []


def test_a_folder_that_the_user_has_named_stays(tmp_path: Path) -> None:
    named = tmp_path / "named"
    assert "found" in looked(os.devnull, CUPY_CACHE_DIR=str(named))
    assert named.is_dir()


def test_a_cache_that_can_only_be_read_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "cupy").symlink_to(tmp_path / "absent")
    assert "found" in looked(str(tmp_path / "home"), ISLANDS_CACHE=str(tmp_path / "cache"))


@pytest.mark.parametrize("variable", ["ISLANDS_CACHE", "CUPY_CACHE_DIR"])
def test_where_there_is_no_folder_the_fix_is_named(variable: str) -> None:
    more = {"CUPY_CACHE_DIR": f"{os.devnull}/own"} if variable == "CUPY_CACHE_DIR" else {}
    told = looked(os.devnull, **more)
    assert told.startswith(f"refused: CuPy cannot make its cache folder: {os.devnull}/")
    assert told.endswith(f": Not a directory. Let {variable} name a folder that you may write")
