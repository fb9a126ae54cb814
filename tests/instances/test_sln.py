from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from islands.errors import InputError
from islands.instances.sln import SlnFile, compared, inverts, read_sln, write_sln

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
WRONG = {
    "empty.sln": ("", ":1: the file is empty"),
    "cost_of_other.sln": ("12\n2 4 1 3 5\n", ":1: n is 12, but the instance has 4. Name a sol"),
    "cost_twice.sln": ("12\n2 4 1 4\n", ":1: n is 12, but the instance has 4"),
    "cost_alone.sln": ("12\n", ":1: n is 12, but the instance has 4"),
    "other.sln": ("5 12\n2 4 1 3 5\n", ":1: n is 5, but the instance has 4"),
    "no_cost.sln": ("4\n", ":1: the file ends without the cost that follows n"),
    "no_order.sln": ("4 12\n", ":1: the file ends without an assignment"),
    "letters.sln": ("4 12\n2 four 1 3\n", ":2: 'four' is not a whole number"),
    "decimal.sln": (
        "4 12.5\n2 4 1 3\n",
        ":1: '12.5' is not a whole number from 0 to 92233720368547",
    ),
    "negative.sln": ("4 12\n2 -4 1 3\n", ":2: '-4' is not a whole number from 0 to 2147483647"),
    "huge.sln": ("4 12\n2 99999999999 1 3\n", ":2: '99999999999' is not a whole number"),
    "cost.sln": ("4 9223372036854775808\n2 4 1 3\n", ":1: '9223372036854775808' is not a whole"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_an_assignment_is_read_counted_from_0(tmp_path: Path, name: str) -> None:
    text, base = RIGHT[name]
    path = tmp_path / name
    path.write_text(text, newline="")
    file = read_sln(path, 4)
    assert (file.cost, file.base, file.order.tolist()) == (12, base, [1, 3, 0, 2])


@pytest.mark.parametrize("name", WRONG)
def test_a_malformed_file_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    text, words = WRONG[name]
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_sln(path, 4)
    assert str(caught.value).startswith(f"{path}{words}")
    assert str(caught.value).isprintable()


def test_an_endless_assignment_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "endless.sln"
    path.write_text("4 12\n" + "1\n" * 1_000_000)
    with pytest.raises(InputError, match="is longer than its header"):
        read_sln(path, 4)


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
    ("cost", "of_inverse", "convention", "agrees"),
    [
        (7, 8, "as written", True),
        (8, 7, "inverse", True),
        (7, 7, "either", True),
        (8, 9, "as written", False),
        (8, 8, "as written", False),
    ],
)
def test_the_header_decides_whether_the_order_is_inverted(
    cost: int, of_inverse: int, convention: str, agrees: bool
) -> None:
    file = SlnFile(7, 1, np.arange(3))
    facts = {remark.key: remark.value for remark in compared(file, cost, of_inverse)}
    assert facts == {"convention": convention, "header": 7, "header_agrees": agrees}
    assert inverts(file, cost, of_inverse) == (convention == "inverse")


def test_a_cost_that_equals_n_is_no_n(tmp_path: Path) -> None:
    path = tmp_path / "four.sln"
    path.write_text("4\n2 4 1 3\n")
    file = read_sln(path, 4)
    assert (file.cost, file.base, file.order.tolist()) == (4, 1, [1, 3, 0, 2])


def test_a_large_cost_may_be_first(tmp_path: Path) -> None:
    path = tmp_path / "large.sln"
    path.write_text(f"{2**62}\n3 2 1\n")
    assert read_sln(path, 3).cost == 2**62
