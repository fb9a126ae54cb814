"""Names in settings that no file can have are refused like files that do not exist."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from islands.configuration.resolve import layers
from islands.errors import InputError, IslandsError
from islands.paths import published, reading
from islands.run.build import read_start
from islands.run.request import resolved

LONG = "a" * 5000


def start_of(options: dict[str, Any]) -> list[Any]:
    """Return the solutions with which a run begins."""
    return read_start(*resolved(layers(options)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"instance": "a\0.tsp"}, "no such file"),
        ({"instance": "./a\0"}, "no such file"),
        ({"instance": f"{LONG}.tsp"}, "File name too long"),
        ({"instance": "~nosuchuser/x.tsp"}, "there is no such user"),
        ({"instance": "~nosuchuser/x.py:y"}, "there is no such user"),
        ({"crossover": "~nosuchuser/x.py:y"}, "there is no such user"),
        ({"crossover": f"{LONG}.py:y"}, "File name too long"),
        ({"start": [LONG]}, "File name too long"),
        ({"start": ["a\0.tour"]}, "a zero byte is in the name"),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_names_that_no_file_can_have(
    options: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(IslandsError, match=said) as error:
        start_of({"algorithm": "ga"} | options)
    assert str(error.value).isprintable()


def test_files_that_cannot_be_written(tmp_path: Path) -> None:
    with (
        pytest.raises(IslandsError, match="a zero byte is in the name"),
        published(tmp_path / "a\0b"),
    ):
        pass


def test_other_errors_are_not_those_of_a_name() -> None:
    with pytest.raises(ValueError, match=r"^7$"), reading("a"):
        raise ValueError("7")
    with pytest.raises(InputError, match=r"^b$"), reading("a\0"):
        raise InputError("b")
