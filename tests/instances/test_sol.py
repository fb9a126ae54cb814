from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from islands.errors import InputError
from islands.instances.mkp import read_sol, write_sol

RIGHT = {
    "plain.sol": "2 5 1\n",
    "lines.sol": "1\n\n5\n2",
    "crlf.sol": "5 2\t1 \r\n",
    "list.json": "[4, 0, 1]",
    "result.json": json.dumps({"cost": 7, "solution": [0, 1, 4]}),
}
WRONG = {
    "twice.sol": ("2 5\n2\n", ": item 2 is chosen twice. Remove one"),
    "zero.sol": ("0 1\n", ": item 0 is not one of 1 to 5"),
    "above.sol": ("6\n", ": item 6 is not one of 1 to 5"),
    "negative.sol": ("1 -2\n", ":1: '-2' is not the number of an item"),
    "letters.sol": ("1\ntwo\n", ":2: 'two' is not the number of an item"),
    "decimal.sol": ("1.0\n", ":1: '1.0' is not the number of an item"),
    "huge.sol": ("99999999999\n", ":1: '99999999999' is not the number of an item"),
    "above.json": ("[5]", ": item 5 is not one of 0 to 4"),
    "twice.json": ("[1, 1]", ": item 1 is chosen twice"),
    "below.json": ("[-1]", ": item -1 is not one of 0 to 4"),
    "word.json": ('["a"]', ": item 0 is 'a', not a chosen item's number"),
    "none.json": ("{}", ": contains no list of chosen items"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_chosen_items_are_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(RIGHT[name], newline="")
    assert read_sol(path, 5).tolist() == [1, 1, 0, 0, 1]


@pytest.mark.parametrize("name", WRONG)
def test_a_malformed_file_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    text, words = WRONG[name]
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_sol(path, 5)
    assert str(caught.value).startswith(f"{path}{words}")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("chosen", [[], [0], [999], list(range(1000)), list(range(0, 1000, 3))])
def test_a_written_file_is_read_back(tmp_path: Path, chosen: list[int]) -> None:
    subset = np.zeros(1000, np.int64)
    subset[chosen] = 1
    path = tmp_path / "solution.sol"
    write_sol(path, subset)
    assert path.read_text().split() == [str(item + 1) for item in chosen]
    assert read_sol(tmp_path, 1000).tolist() == subset.tolist()


def test_an_empty_subset_may_be_a_list(tmp_path: Path) -> None:
    path = tmp_path / "empty.json"
    path.write_text('{"solution": []}')
    assert read_sol(path, 3).tolist() == [0, 0, 0]


def test_an_endless_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "endless.sol"
    path.write_text("1\n" * 1_000_000)
    with pytest.raises(InputError, match="is longer than its header"):
        read_sol(path, 5)


def test_a_folder_without_a_solution_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is a folder without solution\.sol"):
        read_sol(tmp_path, 5)
