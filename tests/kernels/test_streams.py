"""Random streams have numbers of their own, and each header names those that it draws from."""

from __future__ import annotations

import re
from itertools import takewhile
from pathlib import Path

import pytest

from islands.paths import data_folder

KERNELS = data_folder("kernels")
HEADERS = sorted(path.relative_to(KERNELS).as_posix() for path in KERNELS.rglob("*.cuh"))
NUMBERS = {
    name: int(number)
    for name, number in re.findall(
        r"^\s*([A-Z_]+) = (\d+),", (KERNELS / "core" / "streams.cuh").read_text(), re.MULTILINE
    )
}


def first_comment(path: Path) -> str:
    """Return the comment at the beginning of a header as one line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    comment = takewhile(lambda line: line.startswith("//"), lines)
    return " ".join(line.removeprefix("//").strip() for line in comment)


def test_numbers_of_streams_are_different_and_fit_in_eight_bits() -> None:
    assert len(NUMBERS) >= 5
    assert len(set(NUMBERS.values())) == len(NUMBERS)
    assert max(NUMBERS.values()) < 256


@pytest.mark.parametrize("header", HEADERS)
def test_the_first_comment_names_the_streams_of_a_header(header: str) -> None:
    text = (KERNELS / header).read_text(encoding="utf-8")
    drawn = set(re.findall(r"\bstream::([A-Z_]+)", text))
    named = set(re.findall(r"\b[A-Z]+\b", first_comment(KERNELS / header)))
    assert drawn <= named
    assert drawn <= set(NUMBERS)


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_without_random_numbers_draws_none(header: str) -> None:
    comment = first_comment(KERNELS / header)
    assert comment
    if "No random numbers" in comment:
        text = (KERNELS / header).read_text(encoding="utf-8")
        assert not re.search(r"\bstream::|\.words\(", text)
