"""Files of QAPs that can be read in two ways are refused: a wrong one shifts both matrices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice, repeat
from pathlib import Path

import numpy as np
import pytest

from islands.errors import InputError
from islands.instances.qaplib import StatedCosts, read_qap


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


REAL = list("3012103230056507670")
"""All assignments cost 64 or more."""
TWO = {
    "first line": (
        "3 0\n1 2 1 0\n3 2 3\n0 0 5 6 5 0 7 6 7 0 76",
        "the cost 0 before A = 1 2 1 ...",
    ),
    "same width": ("\n".join(" ".join(REAL[i : i + 2]) for i in range(0, 18, 2)) + "\n0 76", ""),
    "with a row": ("3 76 0 1 2 1\n0 3 2 3 0\n0 5 6\n5 0 7 6 7 0", "A = 76 0 1 ... and the cost 0"),
    "stray": ("2\n1 2 9\n3 4\n5 6\n7 8\n", "A = 1 2 9 ... and the cost 8 after B; or the cost 1"),
    "only its cost": ("2 0\n3 1\n2 2\n6 5\n7 33\n", "and the cost 33 after B"),
}


@pytest.mark.parametrize("case", TWO)
def test_a_file_with_two_readings_is_refused(tmp_path: Path, case: str) -> None:
    text, reading = TWO[case]
    path = tmp_path / "two.qap"
    path.write_text(text)
    with pytest.raises(InputError, match="the first or the last is a cost: it may be") as error:
        read_qap(path)
    assert reading in str(error.value)
    assert "; or " in str(error.value)


@pytest.mark.parametrize("width", range(1, 12))
def test_a_cost_at_the_end_never_shifts_the_matrices(tmp_path: Path, width: int) -> None:
    path = tmp_path / "wrapped.qap"
    words = [*REAL, "76"]
    path.write_text(wrapped(words, repeat(width)))
    try:
        file = read_qap(path)
    except InputError:
        return
    assert file.a.reshape(-1).tolist() == [int(word) for word in REAL[1:10]]
    assert file.stated == StatedCosts(best=76)


@pytest.mark.published
def test_published_files_are_read_in_every_wrapping(published: Path, tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    small = [
        path
        for path in sorted((published / "qaplib").glob("*.dat"))
        if int(path.read_text().split()[0]) <= 12
    ]
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
            # With the best known cost at the end, it is refused at least.
            path.write_text(wrapped([*words, cost], widths))
            with suppress(InputError):
                file = read_qap(path)
                assert [file.a.tolist(), file.b.tolist()] == matrices
                assert file.stated == StatedCosts(best=int(cost))
                accepted += 1
    assert accepted > 20
