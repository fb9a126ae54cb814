"""Errors of a user's code show the line of the user that raised them."""

from __future__ import annotations

from pathlib import Path

import pytest

from islands.custom.scripts import module_of, script_errors, script_line
from islands.custom.trust import trust_files
from islands.errors import InputError

CALLS = """\
import json

def inner(text):
    return json.loads(text)

def outer(text):
    return inner(text)

"""


def written(folder: Path, *more: str) -> Path:
    path = folder / "own.py"
    path.write_text(CALLS + "\n".join(more) + "\n")
    trust_files([path])
    return path


def test_the_innermost_line_of_the_script_is_shown(tmp_path: Path) -> None:
    path = written(tmp_path, "outer('nothing')")
    with pytest.raises(InputError) as caught:
        module_of(path)
    # Not the line at the top level, nor one of the module json.
    assert str(caught.value).startswith(f"{path}, line 4, 'return json.loads(text)': JSONDecode")
    path = written(tmp_path, "", "def broken(:")
    with pytest.raises(InputError, match=r"own\.py, line 10, 'def broken"):
        module_of(path)


def test_a_later_call_shows_its_line_too(tmp_path: Path) -> None:
    path = written(tmp_path)
    outer = module_of(path).outer
    with pytest.raises(InputError, match=r"cost: .*own\.py, line 4, ") as caught:  # noqa: SIM117
        with script_errors(path, "cost"):
            outer("nothing")
    cause = caught.value.__cause__
    assert cause is not None
    assert script_line(cause) == f"{path}, line 4, 'return json.loads(text)'"
    assert script_line(ValueError("of islands")) == ""
