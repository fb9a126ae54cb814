from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

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
