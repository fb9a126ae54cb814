"""The best cost that a file states, compared with the best of all assignments."""

from __future__ import annotations

import gzip
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from instance_texts import qaplib_text

from islands.instances.qaplib import QapFile
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
    return "; ".join(remark.words for remark in problem.words.remarks)


def solution(order: tuple[int, ...], cost: int, first: int = 1) -> bytes:
    return f"5 {cost}\n{' '.join(str(place + first) for place in order)}\n".encode()


def test_file_without_a_stated_cost_has_no_remarks(tmp_path: Path) -> None:
    problem = made(tmp_path, "")
    assert (problem.best_known, list(problem.words.remarks)) == (None, [])


@pytest.mark.parametrize("order", [ORDER, INVERSE])
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("header", [BEST, BEST + 10])
def test_solution_file_with_the_stated_cost_confirms_it(
    tmp_path: Path, order: tuple[int, ...], first: int, header: int
) -> None:
    assert COSTS[INVERSE] != BEST
    (tmp_path / "five.sln").write_bytes(solution(order, header, first))
    problem = made(tmp_path, f"{BEST} {BEST}")
    assert problem.best_known is not None
    assert (problem.best_known.value, problem.best_known.status) == (BEST, "best_known")
    assert words(problem) == (
        f"the file says optimum {BEST}; the assignment in five.sln has this cost"
    )
    assert [(each.key, each.value) for each in problem.words.remarks] == [
        ("stated", BEST),
        ("stated_agrees", True),
    ]


def test_gzipped_solution_file_confirms_the_stated_cost(tmp_path: Path) -> None:
    (tmp_path / "five.sln.gz").write_bytes(gzip.compress(solution(ORDER, BEST)))
    problem = made(tmp_path, str(BEST))
    assert problem.best_known is not None
    assert problem.best_known.value == BEST


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "there is no five.sln next to it to confirm it"),
        (solution(WORSE, BEST), f"the assignment in five.sln costs {COSTS[WORSE]}"),
        (
            solution((0, 1, 2, 3, 3), BEST),
            "five.sln does not confirm it (location 4 is taken twice",
        ),
        (b"4 1\n1 2 3 4\n", "five.sln does not confirm it (/"),
        (b"", "five.sln does not confirm it (/"),
    ],
)
def test_unconfirmed_cost_is_only_reported(
    tmp_path: Path, content: bytes | None, reason: str
) -> None:
    if content is not None:
        (tmp_path / "five.sln").write_bytes(content)
    problem = made(tmp_path, str(BEST))
    assert problem.best_known is None
    assert words(problem).startswith(
        f"the file says best known {BEST}; this is not accepted as the best known: {reason}"
    )
    assert problem.words.remarks[1].value is False


def test_too_high_value_is_not_accepted(tmp_path: Path) -> None:
    (tmp_path / "five.sln").write_bytes(solution(ORDER, BEST + 1))
    problem = made(tmp_path, str(BEST + 1))
    assert problem.best_known is None
    assert f"the assignment in five.sln costs {BEST} or, inverted, {COSTS[INVERSE]}" in words(
        problem
    )


def test_equal_cost_of_the_inverse_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "five.sln").write_bytes(solution((0, 1, 2, 3, 4), BEST))
    problem = made(tmp_path, str(BEST))
    assert words(problem).endswith(f"the assignment in five.sln costs {COSTS[0, 1, 2, 3, 4]}")


@pytest.mark.parametrize("stated", [f"-{BEST - 3} 0", f"-{BEST - 3}"])
def test_bound_alone_is_only_reported(tmp_path: Path, stated: str) -> None:
    problem = made(tmp_path, stated)
    assert problem.best_known is None
    assert words(problem) == f"the file says lower bound {BEST - 3}"


@pytest.mark.published
@pytest.mark.parametrize(
    ("name", "folder", "stated", "agrees", "words"),
    [
        # The catalogue has 578 for nug12.
        ("nug12.dat", "qaplib", "578", True, "the catalogue agrees"),
        ("nug12.dat", "qaplib", "560", False, "the catalogue has 578"),
        ("nug12.qap", "more", "578 578", True, "the catalogue agrees: qaplib/nug12 has this"),
        (
            "nug12.qap",
            "more",
            "560 560",
            False,
            "no nug12.sln next to it to confirm it; the catalogue has",
        ),
        (
            "nug12.qap",
            "more",
            "579",
            False,
            "the catalogue has 578 for qaplib/nug12, with the same name",
        ),
        ("other.qap", "more", "578 578", False, "there is no other.sln next to it to confirm it"),
        # The optimum of esc16f is 0.
        ("esc16f.qap", "more", "0 0", True, "the catalogue agrees: qaplib/esc16f has this"),
    ],
)
def test_catalogue_confirms_or_refutes_the_stated_cost(
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
    assert [remark.value for remark in problem.words.remarks] == [value, agrees]
    assert words in problem.words.remarks[1].words


@pytest.mark.parametrize(
    ("name", "stated", "words"),
    [
        # The catalogue has nug12 with size 12, nug14 with another size, and burma14 of the TSP.
        ("nug12", 579, "the catalogue has 578 for qaplib/nug12, with the same name and size"),
        (
            "nug12",
            577,
            "there is no nug12.sln next to it to confirm it; the catalogue has 578 for qap",
        ),
        ("nug14", 1014, "there is no nug14.sln next to it to confirm it"),
        ("burma14", 3323, "there is no burma14.sln next to it to confirm it"),
    ],
)
def test_catalogue_entry_must_match_name_problem_and_size(
    tmp_path: Path, name: str, stated: int, words: str
) -> None:
    size = 14 if name == "burma14" else 12
    zeros = np.zeros((size, size), np.int64)
    path = tmp_path / f"{name}.qap"
    text = qaplib_text(QapFile(name, None, size, zeros, zeros)).removeprefix(str(size))
    path.write_text(f"{size} {stated}{text}")
    problem = load(str(path))
    assert problem.best_known is None
    assert problem.words.remarks[1].words.startswith(
        f"this is not accepted as the best known: {words}"
    )


@pytest.mark.parametrize("stated", [577, 579])
def test_value_worse_than_the_catalogue_is_not_accepted(tmp_path: Path, stated: int) -> None:
    one = np.zeros((12, 12), np.int64)
    one[0, 0] = 1
    order = range(1, 13)
    text = qaplib_text(QapFile("nug12", None, 12, one, one * stated)).removeprefix("12")
    (tmp_path / "nug12.qap").write_text(f"12 {stated}{text}")
    (tmp_path / "nug12.sln").write_text(f"12 {stated}\n{' '.join(map(str, order))}\n")
    problem = load(str(tmp_path / "nug12.qap"))
    known = problem.best_known.value if problem.best_known is not None else None
    assert known == (577 if stated == 577 else None)
    assert "the catalogue has 578 for qaplib/nug12" in problem.words.remarks[1].words
