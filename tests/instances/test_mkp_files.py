import gzip
from decimal import Decimal
from pathlib import Path

import pytest
from instance_texts import COUNTED, DRAKE, SAC94, SMALL, TITLED, content, write

from islands.errors import InputError
from islands.instances.mkp import read_mkp

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


@pytest.mark.parametrize("name", RIGHT)
def test_line_breaks_may_be_anywhere(tmp_path: Path, name: str) -> None:
    form, text = RIGHT[name]
    path = write(tmp_path, f"{name}.dat", text)
    file = read_mkp(path, form)
    assert content(file) == SMALL
    assert (file.name, file.path, file.size, file.unit) == (name, path, 4, 1)


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


def test_a_gzipped_file_is_read_and_a_bomb_rejected(tmp_path: Path) -> None:
    path = tmp_path / "small.dat.gz"
    path.write_bytes(gzip.compress(DRAKE.encode()))
    assert (read_mkp(path, "drake").name, content(read_mkp(path, "drake"))) == ("small", SMALL)
    path.write_bytes(gzip.compress(DRAKE.encode() + b" \n" * 5_000_000))
    with pytest.raises(InputError, match="is longer than its header allows"):
        read_mkp(path, "drake")
    path.write_bytes(gzip.compress(b"prose\n" * 5_000_000))
    with pytest.raises(InputError, match="is longer than its header allows"):
        read_mkp(path, "orlib", 0)
