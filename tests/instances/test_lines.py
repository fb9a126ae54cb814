import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from islands.errors import InputError
from islands.instances.formats import recognised
from islands.instances.lines import Lines, Numbers, reading_until
from islands.instances.mkp import read_mkp, read_sol
from islands.instances.qaplib import read_qap
from islands.instances.sln import read_sln
from islands.instances.tsplib import read_tour, read_tsp

WIDTHS = {"short lines": 3, "some in a block": 9_000, "parts of lines": 70_000}


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_words_are_skipped_up_to_the_same_line(tmp_path: Path, name: str, width: int) -> None:
    count = 100_000
    ends = {0: "\n", 1: "\r\n", 2: "\n \n"}
    text = "".join(
        f"{i}{ends[i // width % 3] if i % width == width - 1 else ' '}" for i in range(count)
    )
    packed = gzip.compress(text.encode()) if name.endswith("gz") else text.encode()
    (tmp_path / name).write_bytes(packed)
    line_of = [line for line, words in enumerate(text.split("\n"), 1) for _ in words.split()]
    for skipped in (0, 1, 5, 200, 14_000, 20_000, count - 4, count - 1):
        with Lines.open(tmp_path / name) as lines:
            numbers = Numbers(lines)
            lines.expect("the text needs", count)
            assert numbers.next() == [b"0"]
            numbers.skip(3, "few")
            numbers.skip(max(0, skipped - 3), "others")
            if skipped >= 3:
                assert (numbers.next(), lines.number) == ([b"%d" % skipped], line_of[skipped])
            with pytest.raises(InputError, match=rf":{line_of[-1]}: the file ends after \d+ of"):
                numbers.skip(count, "numbers")


MARKED: dict[str, tuple[bytes, Callable[[Path], Any]]] = {
    "a.tsp": (
        b"TYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
        b"1 0 0\n2 3 0\n3 0 4\nEOF\n",
        lambda path: read_tsp(path).dimension,
    ),
    "a.qap": (b"2\n0 1\n1 0\n0 2\n2 0\n", lambda path: read_qap(path).b.tolist()),
    "a.dat": (b"2 1 0\n10 20\n1 2\n2\n", recognised),
    "a.txt": (b"1\n2 1 0\n10 20\n1 2\n2\n", lambda path: read_mkp(path, "orlib").profits.tolist()),
    "a.tour": (b"TOUR_SECTION\n2 1\n-1\n", lambda path: read_tour(path, 2).tolist()),
    "a.sln": (b"2 7\n2 1\n", lambda path: read_sln(path, 2).order.tolist()),
    "a.sol": (b"2\n", lambda path: read_sol(path, 2).tolist()),
}


@pytest.mark.parametrize("name", MARKED)
def test_a_byte_order_mark_may_be_inside_gzip(tmp_path: Path, name: str) -> None:
    content, read = MARKED[name]
    path = tmp_path / name
    path.write_bytes(content)
    expected = read(path)
    for marked in (b"\xef\xbb\xbf" + content, gzip.compress(b"\xef\xbb\xbf" + content)):
        path.write_bytes(marked)
        assert read(path) == expected


def test_reading_ends_in_the_middle_of_a_file(tmp_path: Path) -> None:
    path, asked = tmp_path / "a.tsp", iter(range(10**6))
    rows = "".join(f"{city} 0 {city}\n" for city in range(1, 1001))
    head = "TYPE: TSP\nDIMENSION: 1000\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
    path.write_text(f"{head}{rows}EOF\n")
    with reading_until(lambda: next(asked) == 500), pytest.raises(InputError):
        read_tsp(path)
    assert next(asked) == 501
    assert read_tsp(path).dimension == 1000
