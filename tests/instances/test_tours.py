from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from islands.errors import InputError
from islands.instances.tsplib import read_tour, write_tour

HEAD = "NAME : t\nTYPE : TOUR\nDIMENSION : 4\nTOUR_SECTION\n"

RIGHT = {
    "plain.tour": HEAD + "1\n3\n2\n4\n-1\nEOF\n",
    "no_end.opt.tour": HEAD + "1\n3\n2\n4\n",
    "one_line.tour": HEAD + " 1 3  2 4 -1",
    "two_ends.tour": HEAD + "1 3\n2 4\n-1\n-1\nEOF\n",
    "no_dimension.tour": "TYPE: TOUR\nTOUR_SECTION:\n1 3 2 4 -1\n",
    "lower.tour": (HEAD + "1\n3\n2\n4\n-1\nEOF\n").lower(),
    "title.tour": (HEAD + "1\n3\n2\n4\n-1\nEOF\n").title(),
    "crlf.tour": (HEAD + "1\n3\n2\n4\n-1\nEOF\n").replace("\n", "\r\n"),
    "list.json": "[0, 2, 1, 3]",
    "run.json": '{"cost": 12, "solution": [0, 2, 1, 3]}',
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_tour_is_read_counted_from_0(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(RIGHT[name], newline="")
    assert read_tour(path, 4).tolist() == [0, 2, 1, 3]


NAMES = ["a\nb", "a\rb", "a\0b", "caf\udce9", "a\nTOUR_SECTION\n1 2", "a\nTYPE : TSP", "EOF", ""]


@pytest.mark.parametrize("name", [*NAMES, "x" * 70_000])
def test_a_tour_of_an_instance_with_any_name_is_read_back(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.tour"
    write_tour(path, name, np.array([2, 0, 1]), 7)
    assert read_tour(path, 3).tolist() == [2, 0, 1]


def test_a_written_tour_is_read_back_from_file_and_folder(tmp_path: Path) -> None:
    tour = np.random.default_rng(1).permutation(100)
    path = tmp_path / "run" / "solution.tour"
    write_tour(path, "demo/tsp", tour, 12345)
    assert "COMMENT : Length 12345\n" in path.read_text()
    np.testing.assert_array_equal(read_tour(path, 100), tour)
    np.testing.assert_array_equal(read_tour(path.parent, 100), tour)
    assert [each.name for each in path.parent.iterdir()] == ["solution.tour"]


def test_a_too_large_json_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as stream:
        stream.truncate(1 << 30)
    with pytest.raises(InputError, match="is larger than 1048832 bytes"):
        read_tour(path, 4)
