"""Errors of a user's code show the line of the user that raised them."""

from __future__ import annotations

from pathlib import Path

import pytest

from islands.custom.scripts import module_of, script_errors, script_line
from islands.custom.trust import trust_files
from islands.errors import InputError


def test_a_later_call_shows_its_line_too(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text("import json\n\ndef outer(text):\n    return json.loads(text)\n")
    trust_files([path])
    outer = module_of(path).outer
    with pytest.raises(InputError, match=r"cost: .*own\.py, line 4, ") as caught:  # noqa: SIM117
        with script_errors(path, "cost"):
            outer("nothing")
    cause = caught.value.__cause__
    assert cause is not None
    assert script_line(cause) == f"{path}, line 4, 'return json.loads(text)'"
    assert script_line(ValueError("of islands")) == ""
