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
    ("name", "value", "message"),
    [
        ("share", "2", "share=2: must be from 0 to 1"),
        ("share", "nan", "share=nan: must be a number"),
        ("share", "inf", "share=inf: must be a number"),
        ("share", "half", "share=half: must be a number"),
        ("share", "", "share=: must be a number"),
        ("size", "0", "size=0: must be at least 1"),
        ("large", "-1", "large=-1: must be from 0 to 9223372036854775807"),
        ("size", "1.5", "size=1.5: must be a whole number"),
        ("size", "1e999", "size=1e999: must be a whole number"),
        ("wait", "5d", "wait=5d: must be a number of seconds, or a duration such as 60s, 5m or 2h"),
        ("wait", "-1m", "wait=-1m: must be at least 0"),
        ("size", [1], r"size=[1]: must be a whole number"),
        ("size", True, "size=True: must be a whole number"),
        ("share", True, "share=True: must be a number"),
        ("word", "rign", "word=rign: unknown choice 'rign'. Did you mean 'ring'?"),
        ("flag", "maybe", "flag=maybe: must be true or false"),
        ("shore", "1", "unknown setting 'shore'. Did you mean 'share'?"),
    ],
)
def test_invalid_values_are_refused(name: str, value: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Sample.build({name: value})
    assert str(caught.value).startswith(message)


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
