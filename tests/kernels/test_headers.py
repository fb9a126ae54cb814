"""Each header says what it reads and writes and which random streams it uses; streams differ."""

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

# What a header does with memory, or that it only declares something or includes other headers.
EFFECT = re.compile(
    r"\b(reads?|writes?|written|returns?|defines?|declares?|includes?)\b", re.IGNORECASE
)
RANDOM = re.compile(r"Random streams: |No random numbers\b")


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


@pytest.mark.parametrize("header", HEADERS)
def test_the_first_comment_says_what_a_header_reads_and_writes(header: str) -> None:
    assert EFFECT.search(first_comment(KERNELS / header))


@pytest.mark.parametrize("header", HEADERS)
def test_the_first_comment_says_whether_a_header_draws_random_numbers(header: str) -> None:
    assert len(RANDOM.findall(first_comment(KERNELS / header))) == 1


def test_the_table_of_kernels_lists_every_header_outside_folders() -> None:
    listed = set(re.findall(r"\w+\.cuh", (KERNELS / "README.md").read_text(encoding="utf-8")))
    assert {header for header in HEADERS if "/" not in header} <= listed
