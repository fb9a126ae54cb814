"""Other programs of `bench quality`: their answers, processes and rejections."""

from itertools import permutations, product
from pathlib import Path
from types import new_class
from typing import Any

import numpy as np
import pytest
from problems_for_tests import facilities, knapsack

import islands
from islands.errors import RunError
from islands.instances.catalogue import BestKnown
from islands.modelling.model import Model
from islands.models.plain import Colouring, Covering, Medians, Packing, Quadratic
from islands.models.shops import Shop
from islands.parallel import World
from islands.problems.base import Problem
from islands.studies.bench.base import BenchRequest
from islands.studies.bench.rivals import contest
from islands.studies.bench.rivals.base import Answer, Rival
from islands.studies.bench.rivals.contest import RIVALS, Contest
from islands.studies.bench.rivals.tours import _course, _tsplib


def test_the_course_of_lkh_is_read_from_its_output() -> None:
    output = """Lower bound = 92823.5, Gap = 0.76%, Ascent time = 0.20 sec.
Cand.min = 5, Cand.avg = 5.0, Cand.max = 5
Preprocessing time = 0.25 sec.
* 1: Cost = 94031, Gap = 0.5357%, Time = 0.01 sec.
2: Cost = 94100, Gap = 0.6%, Time = 0.02 sec.
* 7: Cost = 93560, Gap = 0.0321%, Time = 1.50 sec. =
*** Time limit exceeded ***
"""
    assert _course(output) == [(pytest.approx(0.26), 94031), (1.75, 93560)]


class Stub(Rival):
    """Answers at once: each copy with the course of its seed."""

    name, package, module = "stub", "numpy", "numpy"
    courses: dict[int, Any] = {}

    def given(self, problem: Problem) -> Any:
        return problem

    def solve(self, problem: Problem, seed: int, seconds: float) -> Answer:
        return Answer(self.courses[seed], None, seconds + seed)


def results(problem: Problem, seed: int, monkeypatch: Any, **courses: Any) -> dict[str, Any]:
    stub = Stub()
    monkeypatch.setitem(RIVALS, "stub", stub)
    monkeypatch.setattr(Stub, "courses", {int(each[1:]): c for each, c in courses.items()})
    request = BenchRequest(World(), ["cpu"], rivals=("stub",), threads=2, limit=9.0)
    held = Contest(request)
    answers = lambda rival, problem, seeds: [rival.solve(problem, s, 9.0) for s in seeds]  # noqa: E731
    monkeypatch.setattr(held, "_answers", answers)
    (found,) = held.results(problem, seed)
    return found


def test_the_best_of_all_copies_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = facilities(6)
    s3, s4 = [(1.0, 90), (5.0, 70)], [(2.0, 80), (6.0, 75)]
    found = results(problem, 2, monkeypatch, s3=s3, s4=s4)
    assert found["course"] == [[1.0, 90], [2.0, 80], [5.0, 70]]
    assert (found["cost"], found["seconds"], found["islands"]) == (70, 13.0, 2)
    problem.best_known = BestKnown(70, "optimal", "")
    # The run ends with the first copy that ends.
    assert results(problem, 2, monkeypatch, s3=s3, s4=s4)["seconds"] == 12.0
    none = results(problem, 1, monkeypatch, s1=[], s2=[])
    assert (none["cost"], none["course"]) == (None, [])


def test_a_wrong_cost_of_a_rival_is_detected() -> None:
    problem = facilities(6)
    order = np.arange(6)
    right = Answer([(1.0, problem.cost(order))], order.tolist(), 1.0)
    contest._check(Stub(), problem, right)
    wrong = Answer([(1.0, problem.cost(order) - 1)], order.tolist(), 1.0)
    with pytest.raises(RunError, match="stub reports a cost of"):
        contest._check(Stub(), problem, wrong)


RANDOM = np.random.default_rng(12)
EDGES = np.array([(a, b) for a in range(9) for b in range(a) if RANDOM.random() < 0.5] + [(9, 0)])
WEIGHTS = RANDOM.integers(-3, 9, len(EDGES))
MATRIX = RANDOM.integers(-9, 9, (10, 10))
ROWS = [RANDOM.choice(10, 3, replace=False).tolist() for _ in range(8)]
COSTS = RANDOM.integers(1, 9, 10)
DISTANCES = RANDOM.integers(1, 20, (10, 10))
DISTANCES += DISTANCES.T
SIZES = [7, 6, 5, 4, 3, 3, 2]
MACHINES, TIMES = [[0, 1, 2], [2, 0, 1], [1, 2, 0]], RANDOM.integers(1, 20, (3, 3)).tolist()


SHOP = islands.models.job_shop(MACHINES, TIMES)
COVER = islands.models.set_cover(COSTS, ROWS)
CUT = islands.models.max_cut(EDGES, WEIGHTS)
COLOURS = islands.models.graph_colouring(EDGES)
BINS = islands.models.bin_packing(SIZES, 11)
PLACES = islands.models.p_median(DISTANCES, 4)
DIVERSE = islands.models.max_diversity(DISTANCES, 4)
QUADRATIC = [islands.qubo(MATRIX, maximise=maximise) for maximise in (False, True)]


def subsets(n: int = 10) -> Any:
    return np.array(list(product((0, 1), repeat=n)), np.int8)


KINDS = (Shop, Covering, Quadratic, Colouring, Packing, Medians)
MODELS = (SHOP, COVER, CUT, COLOURS, BINS, PLACES)
"""A model of each kind."""
ARGUMENTS: tuple[tuple[Any, ...], ...] = (
    *((MACHINES, TIMES), (COSTS, ROWS), (EDGES, WEIGHTS)),
    *((EDGES,), (SIZES, 11), (DISTANCES, 4)),
)


def changed(k: int, **changes: Any) -> Model:
    """Return a problem like one of these models, of a subclass."""
    model: Model = new_class("Changed", (type(MODELS[k]),), changes)(*ARGUMENTS[k])
    return model


def recognised(problem: Any) -> list[bool]:
    plain = getattr(problem, "plain", None)
    return [plain is not None and isinstance(plain(), kind) for kind in KINDS]


@pytest.mark.parametrize("k", range(len(MODELS)))
def test_a_model_is_one_of_its_kind_only(k: int) -> None:
    assert recognised(MODELS[k]) == [k == each for each in range(len(KINDS))]


@pytest.mark.parametrize("k", range(len(MODELS)))
def test_changed_models_are_rejected(k: int) -> None:
    text = "__device__ long long cost(const Solution& s, int n, const Data& data) { return n; }"
    violation = text.replace("cost(", "violation(")
    for changes in ({"cost": text}, {"violation": violation, "state": None}):
        other = changed(k, **changes)
        assert not any(recognised(other))
        for name in ("cpsat", "highs", "dwave-tabu"):
            assert "only" in (RIVALS[name].rejection(other) or "")
    # Another search is the same problem.
    assert recognised(changed(k, state=None)) == recognised(MODELS[k])


@pytest.mark.parametrize("problem", [COVER, CUT, PLACES, DIVERSE, *QUADRATIC])
def test_plain_statements_have_the_costs_of_their_models(problem: Model) -> None:
    plain = problem.plain()
    chosen = subsets()
    if isinstance(plain, Medians):
        chosen = chosen[chosen.sum(axis=1) == plain.p]
    if isinstance(plain, Quadratic) and plain.size is not None:
        chosen = chosen[chosen.sum(axis=1) == plain.size]
    if isinstance(plain, Covering):
        chosen = chosen[[all(each[row].any() for row in ROWS) for each in chosen]]
    answers = [plain.answer(each) for each in chosen]
    assert [cost for _, cost in answers] == problem.costs(chosen).tolist()


def test_other_problems_are_rejected() -> None:
    fixed = islands.models.graph_colouring(EDGES, 3)

    class Some(islands.models.MaxCut, state=None):
        choose = 4

    for problem in (knapsack(5, 2), islands.models.flow_shop(TIMES), fixed, Some(EDGES)):
        assert not any(recognised(problem))
    real = islands.models.max_diversity(DISTANCES / 2, 4)
    assert RIVALS["cpsat"].rejection(real)


@pytest.mark.slow
@pytest.mark.parametrize("problem", [COVER, PLACES])
def test_an_exact_solver_proves_the_best_subset(problem: Model) -> None:
    rival = RIVALS["highs"]
    pytest.importorskip(rival.module or rival.package)
    assert rival.rejection(problem) is None
    answer = answer_of("highs", problem, 20.0, 2)
    assert (answer.course[-1][1], answer.proved) == (problem.costs(subsets()).min(), True)


LEGS = np.random.default_rng(4).integers(1, 99, (7, 7))


def route(*, symmetric: bool, **stated: Any) -> Any:
    return islands.tsp(distances=LEGS + LEGS.T if symmetric else LEGS, **stated)


def tours(problem: Any) -> list[Any]:
    return [np.array(order) for order in permutations(range(problem.entries))]


def answer_of(name: str, problem: Any, *limits: float) -> Answer:
    """Return the answer of a rival, which is checked. A process that crashes sends none."""
    rival = RIVALS[name]
    with contest.silent_processes(1) as pool:
        work = rival.given(problem), 1, *limits
        answer: Answer = pool.apply_async(rival.solve, work).get(60)
    contest._check(rival, problem, answer)
    return answer


@pytest.mark.parametrize("symmetric", [False, True], ids=["directed", "symmetric"])
def test_the_text_for_lkh_is_the_same_problem(symmetric: bool, tmp_path: Path) -> None:
    problem = route(symmetric=symmetric)
    path = tmp_path / "text.atsp"
    path.write_text(_tsplib(problem))
    again: Any = islands.load(path)
    assert len(tours(problem)) == len(tours(again)) > 0
    for tour in tours(problem):
        assert again.cost(tour) == problem.cost(tour)


def test_rivals_reject_tours_that_they_do_not_take() -> None:
    path, fixed = route(symmetric=False, start=0), route(symmetric=False, fixed=[(2, 3)])
    holes = LEGS.astype(float)
    holes[1, 2] = np.inf
    long = islands.tsp(distances=LEGS * 2**20)
    lkh = RIVALS["lkh"]
    for rival in (lkh, RIVALS["ortools"]):
        assert "closed tours" in (rival.rejection(path) or "")
        assert "forbidden" in (rival.rejection(islands.tsp(distances=holes)) or "")
        assert rival.rejection(route(symmetric=False)) is None
        assert "no fixed legs" in (rival.rejection(fixed) or "")
    assert "directed legs up to" in (lkh.rejection(long) or "")


@pytest.mark.slow
@pytest.mark.parametrize("symmetric", [False, True], ids=["directed", "symmetric"])
def test_lkh_finds_the_best_of_all_tours(symmetric: bool) -> None:
    pytest.importorskip(RIVALS["lkh"].module or RIVALS["lkh"].package)
    problem = route(symmetric=symmetric)
    best = min(problem.cost(tour) for tour in tours(problem))
    problem.best_known = BestKnown(best, "optimal", "")
    assert answer_of("lkh", problem, 1.0).course[-1][1] == best


@pytest.mark.slow
def test_ortools_finds_the_best_of_all_directed_tours() -> None:
    rival, problem = RIVALS["ortools"], route(symmetric=False)
    pytest.importorskip(rival.module or rival.package)
    best = min(problem.cost(each) for each in tours(problem))
    assert answer_of("ortools", problem, 2.0).course[-1][1] == best


@pytest.mark.parametrize("problem", [CUT, COLOURS, *QUADRATIC])
def test_networkx_finds_answers_of_the_same_problem(problem: Model) -> None:
    rival = RIVALS["networkx"]
    pytest.importorskip(rival.module or rival.package)
    answer = rival.solve(rival.given(problem), 1, 0.3)
    contest._check(rival, problem, answer)
    if problem is COLOURS:
        assert answer.solution is not None
    else:  # from many starts, the best of all
        costs = problem.costs(subsets())
        assert answer.course[-1][1] == (costs.max() if problem.maximise else costs.min())


def test_faq_assigns_the_same_facilities() -> None:
    rival, problem = RIVALS["faq"], facilities(6)
    answer = rival.solve(rival.given(problem), 1, 0.2)
    contest._check(rival, problem, answer)
    best = min(problem.cost(np.array(order)) for order in permutations(range(6)))
    assert best <= answer.course[-1][1] <= answer.course[0][1]
    assert rival.given(COVER) is None
