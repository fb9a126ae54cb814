from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from islands.errors import InputError
from islands.instances.tsplib import read_tour, tour_fault, write_tour

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
WRONG = {
    "second.tour": (HEAD + "1 3\n2 4\n-1\n1 2 3 4\n-1\n", ":8: '1' begins a second tour"),
    "letters.tour": (HEAD + "1\nthree\n", ":6: 'three' is not the number of a city"),
    "negative.tour": (HEAD + "1\n-3\n", ":6: '-3' is not the number of a city"),
    "huge.tour": (HEAD + "99999999999\n", ":5: '99999999999' is not the number of a city"),
    "none.tour": (HEAD + "-1\n", ":5: the tour has no cities"),
    "no_section.tour": ("TYPE : TOUR\n", ":1: the file ends without TOUR_SECTION"),
    "instance.tour": ("TYPE : TSP\n", ":1: TYPE 'TSP' is not TOUR"),
    "lower.tour": ("type : tsp\n", ":1: TYPE 'tsp' is not TOUR"),
    "numbers.tour": ("1\n2\n", ":1: '1' is neither 'KEYWORD : value' nor TOUR_SECTION"),
    "empty.tour": ("", ":1: the file ends without TOUR_SECTION"),
    "not.json": ("[0, 1", ": is not JSON"),
    "word.json": ('"tour"', ": contains no list of cities"),
    "none.json": ('{"cost": 3}', ": contains no list of cities"),
    "half.json": ("[0, 1.5]", ": item 1 is '1.5', not a city's number"),
    "truth.json": ("[0, true]", ": item 1 is 'True', not a city's number"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_tour_is_read_counted_from_0(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(RIGHT[name], newline="")
    assert read_tour(path, 4).tolist() == [0, 2, 1, 3]


@pytest.mark.parametrize("name", WRONG)
def test_a_malformed_tour_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    text, words = WRONG[name]
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_tour(path, 4)
    assert str(caught.value).startswith(f"{path}{words}")
    assert str(caught.value).isprintable()


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


def test_a_folder_without_a_tour_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is a folder without solution\.tour"):
        read_tour(tmp_path, 4)


@pytest.mark.parametrize("name", ["none.tour", "none.json"])
def test_a_missing_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_tour(tmp_path / name, 4)


def test_a_too_large_json_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as stream:
        stream.truncate(1 << 30)
    with pytest.raises(InputError, match="is larger than 1048832 bytes"):
        read_tour(path, 4)


def test_an_endless_tour_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "endless.tour"
    path.write_text(HEAD + "1\n" * 1_000_000)
    with pytest.raises(InputError, match="is longer than its header"):
        read_tour(path, 4)


@pytest.mark.parametrize(
    ("tour", "words"),
    [
        ([0, 1, 2, 3], None),
        ([3, 1, 0, 2], None),
        ([0, 1, 2, 4], "city 5 at position 4 is not one of 1 to 4"),
        ([0, -1, 2, 3], "city 0 at position 2 is not one of 1 to 4"),
        ([0, 1, 2], "city 4 is not visited; the tour has 3 of 4 cities"),
        ([0, 3, 2, 3, 2], "city 4 is visited twice, at positions 2 and 4"),
        ([], "city 1 is not visited; the tour has 0 of 4 cities"),
    ],
)
def test_a_fault_names_the_first_city(tour: list[int], words: str | None) -> None:
    assert tour_fault(np.array(tour, np.int64), 4) == words
