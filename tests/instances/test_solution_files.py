"""Files of solutions: assignments, chosen items and tours."""

import json
from pathlib import Path

import numpy as np
import pytest

from islands.instances.mkp import read_sol, write_sol
from islands.instances.sln import SlnFile, cost_remarks, is_inverse, read_sln, write_sln
from islands.instances.tsplib import read_tour, write_tour

RIGHT = {
    "plain.sln": ("4 12\n2 4 1 3\n", 1),
    "from_0.sln": ("4 12\n1 3 0 2\n", 0),
    "one_line.sln": (" 4 12 2 4 1 3", 1),
    "lines.sln": ("4\n12\n2\n4\n\n1\n3\n", 1),
    "commas.sln": ("4,12\n2,4,\n1, 3\n", 1),
    "crlf.sln": ("4 12\r\n2 4 1 3\r\n", 1),
    "cost_only.sln": ("12\n2 4 1 3\n", 1),
    "cost_only_from_0.sln": ("12 1 3 0 2\n", 0),
    "cost_only_commas.sln": ("12\n2,4,1,3\n", 1),
}


@pytest.mark.parametrize("name", RIGHT)
def test_an_assignment_is_read_counted_from_0(tmp_path: Path, name: str) -> None:
    text, base = RIGHT[name]
    path = tmp_path / name
    path.write_text(text, newline="")
    file = read_sln(path, 4)
    assert (file.cost, file.base, file.order.tolist()) == (12, base, [1, 3, 0, 2])


def test_a_written_file_has_the_published_form_and_is_read_back(tmp_path: Path) -> None:
    order = np.random.default_rng(1).permutation(1000)
    path = tmp_path / "thousand.sln"
    write_sln(path, order, 2**61)
    words = path.read_text().split()
    assert words[:2] == ["1000", str(2**61)]
    assert words[2:] == [str(place + 1) for place in order]
    file = read_sln(path, 1000)
    assert (file.cost, file.base) == (2**61, 1)
    np.testing.assert_array_equal(file.order, order)


@pytest.mark.parametrize(
    ("cost", "inverse_cost", "convention", "agrees"),
    [
        (7, 8, "as written", True),
        (8, 7, "inverse", True),
        (7, 7, "either", True),
        (8, 9, "as written", False),
        (8, 8, "as written", False),
    ],
)
def test_the_header_decides_whether_the_order_is_inverted(
    cost: int, inverse_cost: int, convention: str, agrees: bool
) -> None:
    file = SlnFile(7, 1, np.arange(3))
    facts = {remark.key: remark.value for remark in cost_remarks(file, cost, inverse_cost)}
    assert facts == {"convention": convention, "header": 7, "header_agrees": agrees}
    assert is_inverse(file, cost, inverse_cost) == (convention == "inverse")


def test_a_cost_that_equals_n_is_no_n(tmp_path: Path) -> None:
    path = tmp_path / "four.sln"
    path.write_text("4\n2 4 1 3\n")
    file = read_sln(path, 4)
    assert (file.cost, file.base, file.order.tolist()) == (4, 1, [1, 3, 0, 2])


ITEMS = {
    "plain.sol": "2 5 1\n",
    "lines.sol": "1\n\n5\n2",
    "crlf.sol": "5 2\t1 \r\n",
    "list.json": "[4, 0, 1]",
    "marked.json": "\ufeff[4, 0, 1]",
    "result.json": json.dumps({"cost": 7, "solution": [0, 1, 4]}),
}


@pytest.mark.parametrize("name", ITEMS)
def test_chosen_items_are_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(ITEMS[name], newline="")
    assert read_sol(path, 5).tolist() == [1, 1, 0, 0, 1]


@pytest.mark.parametrize("chosen", [[], [0], [999], list(range(1000)), list(range(0, 1000, 3))])
def test_a_written_file_is_read_back(tmp_path: Path, chosen: list[int]) -> None:
    subset = np.zeros(1000, np.int64)
    subset[chosen] = 1
    path = tmp_path / "solution.sol"
    write_sol(path, subset)
    assert path.read_text().split() == [str(item + 1) for item in chosen]
    assert read_sol(tmp_path, 1000).tolist() == subset.tolist()


HEAD = "NAME : t\nTYPE : TOUR\nDIMENSION : 4\nTOUR_SECTION\n"

TOURS = {
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


@pytest.mark.parametrize("name", TOURS)
def test_a_tour_is_read_counted_from_0(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(TOURS[name], newline="")
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
