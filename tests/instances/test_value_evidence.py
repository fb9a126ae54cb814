"""Solutions that prove values of the catalogue that no other source has."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from instance_texts import entry_of

from islands.paths import data_folder

_FOLDER = data_folder("instances") / "evidence"
FILES = sorted(_FOLDER.rglob("*.*"))


def test_values_that_were_found_here_have_a_solution() -> None:
    with (_FOLDER.parent / "orlib.csv").open(newline="") as stream:
        found = [row["name"] for row in csv.DictReader(stream) if "of islands" in row["source"]]
    assert found == [path.stem for path in FILES]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_solution_has_the_value_of_the_catalogue(published: Path, path: Path) -> None:
    _, best_known = entry_of(f"{path.parent.name}/{path.stem}")
    file, number = published / "mkp" / "orlib" / "mknapcb9.txt", int(path.stem[-2:])
    words = iter(file.read_text().split())
    for _ in range(1 + number * (3 + 500 + 30 * 500 + 30)):
        next(words)
    n, m, _ = (int(next(words)) for _ in range(3))
    profits = [int(next(words)) for _ in range(n)]
    rows = [[int(next(words)) for _ in range(n)] for _ in range(m)]
    chosen = {int(word) - 1 for word in path.read_text().split()}
    assert sum(profits[item] for item in chosen) == best_known.value
    assert all(sum(row[item] for item in chosen) <= int(next(words)) for row in rows)
