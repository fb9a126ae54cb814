"""The first comments of headers, their random streams, and what they include."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from itertools import takewhile
from pathlib import Path

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


def test_numbers_of_streams_are_different_and_fit_in_eight_bits() -> None:
    assert len(NUMBERS) >= 5
    assert len(set(NUMBERS.values())) == len(NUMBERS)
    assert max(NUMBERS.values()) < 256


def test_first_comments_name_streams_and_memory() -> None:
    """They say what a header reads and writes, and which random streams it draws from, if any."""
    for header in HEADERS:
        comment, text = first_comment(header), header.read_text(encoding="utf-8")
        drawn = set(re.findall(r"\bstream::([A-Z_]+)", text))
        assert EFFECT.search(comment), header
        assert len(RANDOM.findall(comment)) == 1, header
        assert drawn <= set(re.findall(r"\b[A-Z]+\b", comment)) & set(NUMBERS), header
        if "No random numbers" in comment:
            assert not re.search(r"\bstream::|\.words\(", text), header


def test_headers_include_each_other_without_cycles() -> None:
    names = {name_of(header): header for header in HEADERS}
    include = re.compile(r'^#include "(.+)"', re.MULTILINE)
    included = {
        name: names.keys() & set(include.findall(header.read_text(encoding="utf-8")))
        for name, header in names.items()
    }
    assert len(list(TopologicalSorter(included).static_order())) == len(HEADERS)
