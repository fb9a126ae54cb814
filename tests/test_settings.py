from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from islands.errors import UsageError
from islands.settings import Settings, setting


@dataclass(frozen=True)
class Sample(Settings):
    """One setting of each kind."""

    share: float = setting(0.5, "a share", low=0, high=1)
    size: int = setting(10, "a size", low=1)
    word: str = setting("ring", "a word", choices=("ring", "elite"))
    flag: bool = setting(False, "a flag")
    wait: float = setting(60.0, "a time", low=0, is_time=True)
    large: int = setting(1, "a large number", low=0, high=2**63 - 1)

    def check(self) -> None:
        """Refuse share=1 with flag."""
        if self.flag and self.share == 1:
            raise UsageError("flag with share=1: choose one")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("share", "0.25", 0.25),
        ("share", 1, 1.0),
        ("size", "1e3", 1000),
        ("size", "9007199254740993", 9007199254740993),
        ("size", 5.0, 5),
        ("word", "elite", "elite"),
        ("flag", "yes", True),
        ("flag", False, False),
        ("wait", "1.5", 1.5),
        ("wait", "5m", 300.0),
        ("wait", 2, 2.0),
    ],
)
def test_values_are_converted_without_loss(name: str, value: Any, expected: Any) -> None:
    found = getattr(Sample.build({name: value}), name)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("share", ["2", "nan", "inf", "half", "", True]),
        ("size", ["0", "1.5", "1e999", [1], True]),
        ("large", ["-1"]),
        ("wait", ["5d", "-1m"]),
        ("word", ["rign"]),
        ("flag", ["maybe"]),
        ("shore", ["1"]),
    ],
)
def test_invalid_values_are_refused(name: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(UsageError, match=name):
            Sample.build({name: value})


def test_contradicting_settings_are_refused() -> None:
    with pytest.raises(UsageError, match=r"choose one$"):
        Sample.build({"flag": True, "share": 1})


def test_changed_copy_is_checked_and_keeps_other_values() -> None:
    changed = Sample.build({"share": 0.25}).replace({"size": 3})
    assert changed == Sample(share=0.25, size=3)
    with pytest.raises(UsageError):
        changed.replace({"size": 0})


def test_mapping_gives_the_same_settings() -> None:
    settings = Sample.build({"word": "elite", "flag": "on"})
    assert Sample.build(settings.to_mapping()) == settings
    assert Sample.names() == ["share", "size", "word", "flag", "wait", "large"]
