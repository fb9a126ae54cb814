from __future__ import annotations

import gzip
import tracemalloc
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from instance_texts import COUNTED, DRAKE, SAC94, SMALL, TITLED, content, drake_text, write

from islands.errors import InputError, UsageError
from islands.instances.mkp import read_mkp
from islands.instances.synthetic import correlated_mkp

RIGHT = {
    "plain": ("drake", DRAKE),
    "one_line": ("drake", " ".join(DRAKE.split())),
    "lines": ("drake", "\n".join(DRAKE.split())),
    "crlf": ("drake", DRAKE.replace("\n", "\t \r\n")),
    "marked": ("drake", "\ufeff" + DRAKE),
    "points": ("drake", DRAKE.replace("80 9", "80. 9.00").replace("3600", "3600.0")),
    "layout": ("sac94", SAC94),
    "named": ("sac94", SAC94 + "\n  SMALL 1\n\n  [ok]\n"),
    "single": ("orlib", "1\n" + DRAKE),
}
WRONG = {
    "empty": ("drake", "", ":1: the file ends before the number of items"),
    "empty_set": ("orlib", " \n\n", ":2: the file is empty"),
    "no_items": ("drake", "0 2 0\n", ":1: the number of items is '0': must be a whole number"),
    "billion": ("drake", "1000000000 5 0\n1 2\n", ":1: the number of items is '1000000000': must"),
    "fraction": ("drake", "2.5 1 0\n", ":1: the number of items is '2.5': must be"),
    "unbound": ("drake", "2 0 0\n1 2\n", ":1: the number of constraints is '0': must be a whole"),
    "beyond": ("drake", "99999 99 0\n1 2\n", ":1: 99999 items and 99 constraints need 10000000 nu"),
    "matrix": (
        "drake",
        "99999 9999 0\n1 2\n",
        ":1: a knapsack of 99999 items and 9999 constraints: has 99989",
    ),
    "missing": ("drake", DRAKE[:-3], ":5: the file ends after 1 of 2 capacities"),
    "missing_row": (
        "drake",
        "4 2 1\n1 2 3 4\n5 6 7 8      \n9      ",
        ":4: the file ends after 1 of 4 weights",
    ),
    "extra": ("drake", DRAKE + "7\n", ":6: '7' follows the last number of the instance"),
    "extra_word": ("drake", DRAKE + "ok\n", ":6: 'ok' follows the last number"),
    "letter": ("drake", DRAKE.replace("13", "l3"), ":3: 'l3', one of the weights of constraint 1,"),
    "exponent": ("drake", DRAKE.replace("80", "8e1"), ":5: '8e1', one of the capacities, is not a"),
    "profit": ("drake", DRAKE.replace("600 ", "-600 "), ":2: '-600', one of the profits, is neg"),
    "weight": ("drake", DRAKE.replace("13", "-13"), ":3: '-13', one of the weights of constraint"),
    "capacity": ("drake", DRAKE.replace("80", "-80"), ":5: '-80', one of the capacities, is nega"),
    "infinite": ("drake", DRAKE.replace("80", "inf"), ":5: 'inf', one of the capacities, is not"),
    "underscore": ("drake", DRAKE.replace("80", "8_0"), ":5: '8_0', one of the capacities, is no"),
    "huge": (
        "drake",
        DRAKE.replace("80", str(2**60)),
        ":5: the capacities: their sum is 1152921504606846976",
    ),
    "sum": (
        "drake",
        DRAKE.replace("8 12", f"{2**59} {2**59}"),
        ":3: the weights of constraint 1: their sum is 1152921504606847053, and only sums",
    ),
    "decimals": (
        "drake",
        DRAKE.replace("600 ", f"0.{'1' * 18} "),
        ":2: the profits: their sum is 3700111111111111111111 with 18 decimals scaled away",
    ),
    "together": (
        "drake",
        DRAKE.replace("8 12", f"8 {10**17}").replace("80", "80.001"),
        ":5: the weights of constraint 1: their sum is 100000000000000085000 with 3 decimals",
    ),
    "endless": ("drake", DRAKE.replace("80", "8" * 5_000), ":5: '88888888"),
    "no_optimum": ("sac94", SAC94[:-5], ":6: the file ends after 0 of 1 optima"),
    "after": ("sac94", SAC94 + "9\n", ":8: '9' follows the optimum, the last number"),
    "untitled": ("orlib", "prose\nproblem instance!\n", ":2: neither a number of problems at the"),
    "too_few": ("orlib", COUNTED.replace("2\n", "3\n", 1), ":10: the file ends before the number"),
    "too_many": ("orlib", "1\n" + COUNTED[2:], ":7: '2' follows the last number of the 1 prob"),
    "binary": ("orlib", "\x00\n" * 1_000, ":1000: neither a number of problems"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_line_breaks_may_be_anywhere(tmp_path: Path, name: str) -> None:
    form, text = RIGHT[name]
    path = write(tmp_path, f"{name}.dat", text)
    file = read_mkp(path, form)
    assert content(file) == SMALL
    assert (file.name, file.path, file.size, file.unit) == (name, path, 4, 1)


@pytest.mark.parametrize("name", WRONG)
def test_a_malformed_file_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    form, text, words = WRONG[name]
    path = write(tmp_path, name, text)
    with pytest.raises(InputError) as caught:
        read_mkp(path, form, 0 if form == "orlib" else None)
    assert str(caught.value).startswith(f"{path}{words}")
    assert str(caught.value).isprintable()


SEVERAL = {
    "counted": COUNTED,
    "one_line": COUNTED.replace("\n", " "),
    "blank_lines": COUNTED.replace("\n", "\n \r\n"),
    "titled": TITLED,
    "begins_with_a_number": "2 problems\n" + TITLED,
    "without_rules": TITLED.replace("+", ""),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_each_instance_of_a_file_is_read(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, "set.txt", SEVERAL[name])
    titled = "SMALL2" in SEVERAL[name]
    first, second = (read_mkp(path, "orlib", part) for part in (0, 1))
    assert content(first) == SMALL
    assert content(second) == ([5, 4], [[3, 2]], [3], 5 if titled else None)
    names = ("SMALL1", "SMALL2") if titled else ("set-00", "set-01")
    assert (first.name, second.name) == names


@pytest.mark.parametrize("part", [None, 2, 48])
def test_the_error_names_the_instances_of_a_file(tmp_path: Path, part: int | None) -> None:
    path = write(tmp_path, "set.txt", TITLED)
    asked = path if part is None else f"{path}:{part:02}"
    with pytest.raises(InputError) as caught:
        read_mkp(path, "orlib", part)
    holds = f"{asked}: the file contains 2 problems. Name one of {path}:00 to {path}:01"
    assert str(caught.value) == f"{holds} (SMALL1, SMALL2)"


def test_a_file_of_one_instance_has_no_second(tmp_path: Path) -> None:
    path = write(tmp_path, "one.dat", DRAKE)
    assert content(read_mkp(path, "drake", 0)) == SMALL
    with pytest.raises(InputError, match=r"one\.dat:01: the file contains one problem\. Name /"):
        read_mkp(path, "drake", 1)
    with pytest.raises(
        InputError, match=r"one\.txt:05: the file contains 1 problem\. Name .*txt:00$"
    ):
        read_mkp(write(tmp_path, "one.txt", "1 " + DRAKE), "orlib", 5)
    with pytest.raises(UsageError, match=r"unknown format of knapsacks 'drak'\. Did you mean 'dr"):
        read_mkp(path, "drak")


def test_decimals_are_scaled_exactly_by_constraint(tmp_path: Path) -> None:
    # In binary floating point, 0.1 + 0.2 exceeds 0.3, and 8706.1 has no exact form.
    text = "2 3 8706.1\n8600.1 310.50\n0.1 0.2\n1 2\n1.125 .5\n0.3\n3\n2\n"
    file = read_mkp(write(tmp_path, "decimals.dat", text), "drake")
    assert content(file) == ([86001, 3105], [[1, 2], [1, 2], [1125, 500]], [3, 3, 2000], 87061)
    assert file.unit == 10
    assert [file.shown(i, load) for i, load in enumerate((2, 3, 62))] == ["0.2", "3", "0.062"]


@pytest.mark.parametrize("word", ["1.000000000000000001", "0.3", "12", "7.", ".5", "1.10", "0"])
def test_a_number_is_not_rounded(tmp_path: Path, word: str) -> None:
    path = write(tmp_path, "one.dat", f"1 1 0\n{word}\n{word}\n1\n")
    if Decimal(word).as_tuple().exponent == -18:
        with pytest.raises(InputError, match="profits: their sum is 2000000000000000001"):
            read_mkp(write(tmp_path, "two.dat", f"2 1 0\n1 {word}\n1 1\n1\n"), "drake")
    file = read_mkp(path, "drake")
    assert Decimal(int(file.profits[0])) / file.unit == Decimal(word)
    assert Decimal(file.shown(0, int(file.weights[0, 0]))) == Decimal(word)


def test_items_that_never_fit_or_weigh_nothing_are_allowed(tmp_path: Path) -> None:
    text = "3 2 0\n0 5 6\n1 0 99\n0 0 0\n0\n0\n"
    file = read_mkp(write(tmp_path, "odd.dat", text), "drake")
    assert content(file) == ([0, 5, 6], [[1, 0, 99], [0, 0, 0]], [0, 0], None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("3 2 61\n10 20 30\n1 2 3\n3 2 1\n4 4\n", "is 61, but the sum of all profits is 60"),
        ("1 1 2.25\n2.2\n1\n1\n", "is 2.25, but the sum of all profits is 2.2. Correct it"),
    ],
)
def test_an_impossible_best_profit_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_mkp(write(tmp_path, "more.dat", text), "drake")


def test_zero_weights_with_a_very_small_capacity(tmp_path: Path) -> None:
    little = f"0.{'0' * 29}1"
    file = read_mkp(write(tmp_path, "little.dat", f"1 1 0\n{little}\n0\n{little}\n"), "drake")
    assert content(file) == ([1], [[0]], [1], None)
    assert (file.unit, file.shown(0, 1)) == (10**30, little)


def test_a_gzipped_file_is_read_and_a_bomb_refused(tmp_path: Path) -> None:
    path = tmp_path / "small.dat.gz"
    path.write_bytes(gzip.compress(DRAKE.encode()))
    assert (read_mkp(path, "drake").name, content(read_mkp(path, "drake"))) == ("small", SMALL)
    path.write_bytes(gzip.compress(DRAKE.encode() + b" \n" * 5_000_000))
    with pytest.raises(InputError, match="is longer than its header allows"):
        read_mkp(path, "drake")
    path.write_bytes(gzip.compress(b"prose\n" * 5_000_000))
    with pytest.raises(InputError, match="is longer than its header allows"):
        read_mkp(path, "orlib", 0)


def test_sizes_beyond_the_file_take_no_memory(tmp_path: Path) -> None:
    path = write(tmp_path, "beyond.dat", "1000000 100 0\n" + "1 " * 1000)
    tracemalloc.start()
    with pytest.raises(InputError, match="1000000 items and 100 constraints need 101000101 numb"):
        read_mkp(path, "drake")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 << 20


def test_a_written_file_is_read_back(tmp_path: Path) -> None:
    made = correlated_mkp(300, 7, seed=3)
    file = read_mkp(write(tmp_path, "made.dat", drake_text(made)), "drake")
    assert content(file) == content(made)
    assert np.array_equal(made.capacities, made.weights.sum(axis=1) // 2)
