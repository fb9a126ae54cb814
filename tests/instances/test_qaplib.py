from collections.abc import Iterator
from contextlib import suppress
from itertools import islice, repeat
from pathlib import Path

import numpy as np
import pytest
from instance_texts import peak_below

from islands.errors import InputError
from islands.instances.qaplib import StatedCosts, read_qap

MATRICES = "1 2\n3 4\n5 6\n7 8\n"
PLAIN = "2\n\n1 2\n3 4\n\n5 6\n7 8\n"
RIGHT = {
    "plain.dat": PLAIN,
    "one_line.dat": " ".join(PLAIN.split()),
    "lines.dat": "\n".join(PLAIN.split()) + "\n",
    "wrapped.dat": "\n\n 2 1 2 3\n4\t5\n\n\n6 7\n8",
    "crlf.dat": PLAIN.replace("\n", "\r\n"),
    "marked.dat": "\ufeff" + PLAIN,
}


@pytest.mark.parametrize("name", RIGHT)
def test_line_breaks_may_be_anywhere(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(RIGHT[name], newline="")
    file = read_qap(path)
    assert (file.name, file.path, file.size) == (path.stem, path, 2)
    assert (file.a.tolist(), file.b.tolist()) == ([[1, 2], [3, 4]], [[5, 6], [7, 8]])


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        # After n or the matrices, on a line of its own.
        (f"2\n{MATRICES}", StatedCosts()),
        (f"2 137\n{MATRICES}", StatedCosts(best=137)),
        (f"2\n{MATRICES}137\n", StatedCosts(best=137)),
        (f"2 0\n{MATRICES}", StatedCosts(best=0)),
        (f"2 -1\n{MATRICES}", StatedCosts()),
        (f"2 0 0\n{MATRICES}", StatedCosts(best=0, optimum=0)),
        (f"2 120 137\n{MATRICES}", StatedCosts(best=137, optimum=120)),
        (f"2 0 137\n{MATRICES}", StatedCosts(best=137)),
        (f"2 -120 137\n{MATRICES}", StatedCosts(best=137, bound=120)),
        (f"2 137 0\n{MATRICES}", StatedCosts(optimum=137)),
        (f"2 -1 -1\n{MATRICES}", StatedCosts()),
        (f"2 -7 -1\n{MATRICES}", StatedCosts(bound=7)),
        # After B, but not on a new line.
        ("2\n1 2 3 4\n5 6 7 8 9\n", StatedCosts(best=9)),
        ("2\n1 2 3 4 5 6 7 8 9\n", StatedCosts(best=9)),
        ("2\n1 2 3\n4 5 6\n7 8 9\n", StatedCosts(best=9)),
        # After matrices that begin on the line of n.
        ("2 1 2 3 4 5 6 7 8\n9\n", StatedCosts(best=9)),
        ("2 1 2\n3 4\n5 6\n7 8\n9\n", StatedCosts(best=9)),
        # After n, with a row or on the next line.
        ("2 9 1 2\n3 4\n5 6\n7 8\n", StatedCosts(best=9)),
        ("2\n9\n1 2\n3 4\n5 6\n7 8\n", StatedCosts(best=9)),
        ("2\n\n9\n\n1 2 3 4\n5 6 7 8\n", StatedCosts(best=9)),
        ("2\n9\n1 2 3 4 5 6 7 8\n", StatedCosts(best=9)),
        ("2 9\n" + "\n".join("12345678"), StatedCosts(best=9)),
        # In both places.
        ("2 9\n1 2\n3 4\n5 6\n7 8\n9\n", StatedCosts(best=9)),
        ("2\n9\n1 2 3 4\n5 6 7 8 9\n", StatedCosts(best=9)),
        # No matrix can contain these numbers.
        ("2 -9 1 2 3 4 5 6 7 8", StatedCosts.of(-9)),
        (f"2\n1\n2\n3\n4\n5\n6\n7\n8\n{2**40}", StatedCosts(best=2**40)),
    ],
)
def test_lines_tell_costs_from_matrices(tmp_path: Path, text: str, stated: StatedCosts) -> None:
    path = tmp_path / "valued.qap"
    path.write_text(text)
    file = read_qap(path)
    assert file.stated == stated
    assert (file.a.tolist(), file.b.tolist()) == ([[1, 2], [3, 4]], [[5, 6], [7, 8]])


def test_an_n_beyond_the_file_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "beyond.dat"
    path.write_text("10000\n" + "1 " * 1000)
    words = "n is 10000, which needs 200000000 numbers"
    with peak_below(10 << 20), pytest.raises(InputError, match=words):
        read_qap(path)


def wrapped(words: list[str], widths: Iterator[int]) -> str:
    left, rows = iter(words), []
    while row := [*islice(left, next(widths))]:
        rows.append(" ".join(row))
    return "\n".join(rows) + "\n"


def test_one_facility_has_two_numbers(tmp_path: Path) -> None:
    path = tmp_path / "one.qap"
    for text in ("1 5\n3", "1\n5\n3", "1\n5 3", "1 5 3"):
        path.write_text(text)
        file = read_qap(path)
        assert (file.a.tolist(), file.b.tolist()) == ([[5]], [[3]])
    for text in ("1 9\n5\n3", "1 5\n3\n9", "1\n5\n3\n9", "1 5 3 9", "1 5\n3 9", "1 9\n5 3\n9"):
        path.write_text(text)
        with pytest.raises(InputError, match=r"the lines do not show whether .*: it may be"):
            read_qap(path)
    # No matrix can contain this number.
    path.write_text("1 -9\n5\n3")
    assert read_qap(path).b.tolist() == [[3]]


@pytest.mark.published
def test_published_files_are_read_in_every_wrapping(published: Path, tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    every = sorted((published / "qaplib").glob("*.dat"))
    small = [path for path in every if int(path.read_text().split()[0]) <= 12]
    assert len(small) == 11
    larger = [published / "qaplib" / f"{name}.dat" for name in ("chr18a", "bur26a", "esc32a")]
    path = tmp_path / "wrapped.qap"
    accepted = 0
    for original in [*small, *larger]:
        words = original.read_text().split()
        cost = original.with_suffix(".sln").read_text().split()[1]
        n, *numbers = map(int, words)
        matrices = np.array(numbers).reshape(2, n, n).tolist()
        layouts: list[Iterator[int]] = [repeat(width) for width in range(1, 11)]
        layouts += [iter(generator.integers(1, 10, len(words) + 1).tolist()) for _ in range(10)]
        for widths in layouts:
            path.write_text(wrapped(words, widths))
            file = read_qap(path)
            assert [file.a.tolist(), file.b.tolist()] == matrices
            assert file.stated == StatedCosts()
            # With the best known cost at the end, it is rejected at least.
            path.write_text(wrapped([*words, cost], widths))
            with suppress(InputError):
                file = read_qap(path)
                assert [file.a.tolist(), file.b.tolist()] == matrices
                assert file.stated == StatedCosts(best=int(cost))
                accepted += 1
    assert accepted > 20
