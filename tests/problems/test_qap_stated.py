"""What a file says of its best assignment, compared with the best of all assignments."""

from __future__ import annotations

import gzip
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from islands.instances.qaplib import QapFile, qaplib_text
from islands.problems import load
from islands.problems.base import Problem

A, B = np.random.default_rng(1).integers(0, 30, (2, 5, 5))
COSTS = {
    order: int(sum(A[i, j] * B[order[i], order[j]] for i in range(5) for j in range(5)))
    for order in permutations(range(5))
}
ORDER = min(COSTS, key=lambda order: COSTS[order])
BEST = COSTS[ORDER]
WORSE = next(order for order in COSTS if COSTS[order] != BEST and order[0] != 0)
INVERSE = tuple(np.argsort(ORDER).tolist())


@pytest.fixture(autouse=True)
def _no_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ISLANDS_INSTANCES", raising=False)


def made(folder: Path, stated: str, name: str = "five.qap") -> Problem:
    path = folder / name
    text = qaplib_text(QapFile("five", None, 5, A, B)).removeprefix("5")
    path.write_text(f"5 {stated}{text}")
    return load(str(path))


def words(problem: Problem) -> str:
    return "; ".join(remark.words for remark in problem.remarks)


def solution(order: tuple[int, ...], cost: int, first: int = 1) -> bytes:
    return f"5 {cost}\n{' '.join(str(place + first) for place in order)}\n".encode()


def test_nothing_is_said_of_a_file_that_says_nothing(tmp_path: Path) -> None:
    problem = made(tmp_path, "")
    assert (problem.best_known, list(problem.remarks)) == (None, [])


@pytest.mark.parametrize("order", [ORDER, INVERSE])
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("header", [BEST, BEST + 10])
def test_an_assignment_beside_it_with_that_cost_confirms_it(
    tmp_path: Path, order: tuple[int, ...], first: int, header: int
) -> None:
    assert COSTS[INVERSE] != BEST
    (tmp_path / "five.sln").write_bytes(solution(order, header, first))
    problem = made(tmp_path, f"{BEST} {BEST}")
    assert problem.best_known is not None
    assert (problem.best_known.value, problem.best_known.status) == (BEST, "best_known")
    assert words(problem) == (
        f"the file says optimum {BEST}; five.sln agrees, whose assignment costs that"
    )
    assert [(each.key, each.value) for each in problem.remarks] == [
        ("stated", BEST),
        ("stated_agrees", True),
    ]


def test_a_gzipped_one_confirms_it_too(tmp_path: Path) -> None:
    (tmp_path / "five.sln.gz").write_bytes(gzip.compress(solution(ORDER, BEST)))
    problem = made(tmp_path, str(BEST))
    assert problem.best_known is not None
    assert problem.best_known.value == BEST


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "there is no five.sln beside it to show it"),
        (solution(WORSE, BEST), f"the assignment in five.sln costs {COSTS[WORSE]} or, inverted, "),
        (solution((0, 1, 2, 3, 3), BEST), "five.sln does not show it (location 4 is taken twice"),
        (b"4 1\n1 2 3 4\n", "five.sln does not show it (/"),
        (b"", "five.sln does not show it (/"),
    ],
)
def test_what_nothing_confirms_is_only_said(
    tmp_path: Path, content: bytes | None, reason: str
) -> None:
    if content is not None:
        (tmp_path / "five.sln").write_bytes(content)
    problem = made(tmp_path, str(BEST))
    assert problem.best_known is None
    assert words(problem).startswith(
        f"the file says best known {BEST}; this is not taken as the best known: {reason}"
    )
    assert problem.remarks[1].value is False


def test_a_value_that_is_too_high_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "five.sln").write_bytes(solution(ORDER, BEST + 1))
    problem = made(tmp_path, str(BEST + 1))
    assert problem.best_known is None
    assert f"the assignment in five.sln costs {BEST} or, inverted, {COSTS[INVERSE]}" in words(
        problem
    )


def test_a_bound_alone_is_only_said(tmp_path: Path) -> None:
    problem = made(tmp_path, f"-{BEST - 3} 0")
    assert problem.best_known is None
    assert words(problem) == f"the file says lower bound {BEST - 3}"


@pytest.mark.published
@pytest.mark.parametrize(
    ("name", "folder", "stated", "agrees", "words"),
    [
        # The catalogue has 578 for nug12.
        ("nug12.dat", "qaplib", "578", True, "the catalogue agrees"),
        ("nug12.dat", "qaplib", "560", False, "the catalogue has 578"),
        ("nug12.qap", "more", "578 578", True, "the catalogue agrees, where qaplib/nug12 has that"),
        ("nug12.qap", "more", "560 560", False, "there is no nug12.sln beside it to show it"),
        ("other.qap", "more", "578 578", False, "there is no other.sln beside it to show it"),
        # The optimum of esc16f is 0.
        ("esc16f.qap", "more", "0 0", True, "the catalogue agrees, where qaplib/esc16f has that"),
    ],
)
def test_the_catalogue_confirms_it(
    published: Path, tmp_path: Path, name: str, folder: str, stated: str, agrees: bool, words: str
) -> None:
    original = published / "qaplib" / f"{name[:-4].replace('other', 'nug12')}.dat"
    first, _, rest = original.read_text().partition("\n")
    path = tmp_path / folder / name
    path.parent.mkdir()
    path.write_text(f"{first} {stated}\n{rest}")
    problem = load(str(path))
    value = int(stated.split()[0])
    if folder == "qaplib":
        assert problem.best_known is not None
        assert (problem.best_known.value, problem.best_known.status) == (578, "optimal")
    else:
        known = problem.best_known.value if problem.best_known is not None else None
        assert known == (value if agrees else None)
    assert [remark.value for remark in problem.remarks] == [value, agrees]
    assert words in problem.remarks[1].words
