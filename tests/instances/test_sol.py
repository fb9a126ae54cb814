from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from islands.instances.mkp import read_sol, write_sol

RIGHT = {
    "plain.sol": "2 5 1\n",
    "lines.sol": "1\n\n5\n2",
    "crlf.sol": "5 2\t1 \r\n",
    "list.json": "[4, 0, 1]",
    "result.json": json.dumps({"cost": 7, "solution": [0, 1, 4]}),
}


@pytest.mark.parametrize("name", RIGHT)
def test_chosen_items_are_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(RIGHT[name], newline="")
    assert read_sol(path, 5).tolist() == [1, 1, 0, 0, 1]


@pytest.mark.parametrize("chosen", [[], [0], [999], list(range(1000)), list(range(0, 1000, 3))])
def test_a_written_file_is_read_back(tmp_path: Path, chosen: list[int]) -> None:
    subset = np.zeros(1000, np.int64)
    subset[chosen] = 1
    path = tmp_path / "solution.sol"
    write_sol(path, subset)
    assert path.read_text().split() == [str(item + 1) for item in chosen]
    assert read_sol(tmp_path, 1000).tolist() == subset.tolist()
