"""The first comments of headers, their random streams, and what they include."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from itertools import takewhile
from pathlib import Path

import pytest

from islands.paths import data_folder

KERNELS = data_folder("kernels")
TESTS = Path(__file__).parents[1]
HEADERS = sorted(
    path
    for folder in (KERNELS, TESTS)
    for suffix in ("cuh", "hpp")
    for path in folder.rglob(f"*.{suffix}")
)
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


def name_of(path: Path) -> str:
    folder = KERNELS if path.is_relative_to(KERNELS) else TESTS.parent
    return path.relative_to(folder).as_posix()


def first_comment(path: Path) -> str:
    """Return the comment at the beginning of a header as one line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    comment = takewhile(lambda line: line.startswith("//"), lines)
    return " ".join(line.removeprefix("//").strip() for line in comment)


each_header = pytest.mark.parametrize("header", HEADERS, ids=name_of)


def test_numbers_of_streams_are_different_and_fit_in_eight_bits() -> None:
    assert len(NUMBERS) >= 5
    assert len(set(NUMBERS.values())) == len(NUMBERS)
    assert max(NUMBERS.values()) < 256


@each_header
def test_the_first_comment_names_the_streams_of_a_header(header: Path) -> None:
    text = header.read_text(encoding="utf-8")
    drawn = set(re.findall(r"\bstream::([A-Z_]+)", text))
    named = set(re.findall(r"\b[A-Z]+\b", first_comment(header)))
    assert drawn <= named
    assert drawn <= set(NUMBERS)


@each_header
def test_a_header_without_random_numbers_draws_none(header: Path) -> None:
    comment = first_comment(header)
    assert comment
    if "No random numbers" in comment:
        text = header.read_text(encoding="utf-8")
        assert not re.search(r"\bstream::|\.words\(", text)


@each_header
def test_the_first_comment_says_what_a_header_reads_and_writes(header: Path) -> None:
    assert EFFECT.search(first_comment(header))


@each_header
def test_the_first_comment_says_whether_a_header_draws_random_numbers(header: Path) -> None:
    assert len(RANDOM.findall(first_comment(header))) == 1


def test_headers_include_each_other_without_cycles() -> None:
    names = {name_of(header): header for header in HEADERS}
    include = re.compile(r'^#include "(.+)"', re.MULTILINE)
    included = {
        name: names.keys() & set(include.findall(header.read_text(encoding="utf-8")))
        for name, header in names.items()
    }
    assert len(list(TopologicalSorter(included).static_order())) == len(HEADERS)


def test_the_table_of_kernels_lists_every_folder_and_every_header_outside_of_them() -> None:
    page = (KERNELS / "README.md").read_text(encoding="utf-8")
    folders = {f"{path.name}/" for path in KERNELS.iterdir() if path.is_dir()}
    headers = {path.name for path in KERNELS.glob("*.cuh")}
    assert folders | headers <= set(re.findall(r"\w+(?:\.cuh|/)", page))
