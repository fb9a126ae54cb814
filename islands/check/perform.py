"""Check a problem: evaluate random solutions in all possible ways, and compare the results."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.calls import explained
from islands.check import messages
from islands.check.checked import Checked, WayResult
from islands.check.contained import fault_of, run_contained
from islands.check.messages import Difference, brief
from islands.check.ways import (
    CompiledWay,
    Mates,
    Walk,
    Way,
    backends,
    compiled_ways,
    follows,
    moved,
    python_ways,
    random_ends,
    random_walk,
)
from islands.errors import IslandsError, RunError, UsageError
from islands.modelling.model import Model
from islands.problems import priced
from islands.problems.base import Problem

_TOLERANCE = 1e-9
"""Relative difference that real costs may have, because compilers round functions differently."""
_ENTRY_TOLERANCE = 1e-6
"""The same for entries of children, some of which are in single precision."""


def agree(
    first: NDArray[Any], other: NDArray[Any], *, real: bool, size: Any = 0.0
) -> NDArray[np.bool_]:
    """Return where costs agree: integers exactly, real costs within a tolerance.

    `size` is the magnitude of the numbers from which real costs were computed.
    """
    if not real:
        return np.asarray(first == other)
    most = np.maximum(np.maximum(np.abs(first), np.abs(other)), np.maximum(size, 1.0))
    with np.errstate(invalid="ignore"):
        near = np.abs(first - other) <= _TOLERANCE * most
    return np.asarray((first == other) | (near & np.isfinite(first) & np.isfinite(other)))


def _first_wrong(right: NDArray[np.bool_]) -> int | None:
    """Return the index of the first wrong solution, or None."""
    return None if right.all() else int(np.argmin(right))


def _require_equal(
    problem: Problem,
    solutions: NDArray[Any],
    names: tuple[str, str],
    costs: tuple[NDArray[Any], NDArray[Any]],
) -> None:
    """Raise `Difference` about the first solution with two costs."""
    equal = agree(*costs, real=problem.scale.real)
    if (k := _first_wrong(equal)) is not None:
        both = costs[0][k].item(), costs[1][k].item()
        raise messages.two_costs(solutions[k], names, both, equal)


def _require_usable(
    problem: Problem, solutions: NDArray[Any], name: str, costs: NDArray[Any]
) -> None:
    """Raise `Difference` about the first cost that is NaN or infinitely good."""
    best = np.inf if problem.maximise else -np.inf
    k = _first_wrong(~np.isnan(costs) & (costs != best))
    if problem.scale.real and k is not None:
        raise messages.unusable_cost(solutions[k], name, costs[k], best)


def _reject_fault(name: str, way: CompiledWay) -> None:
    """Raise `Difference` if the functions have reported a fault."""
    if fault := way.program.fault():
        raise Difference(f"{name}: {fault}")


SAMPLES = 1000
SECONDS = 10.0
_MOST_SAMPLES = 1_000_000
_STEPS = 8
"""Number of successive random moves in the check of a state."""
_MOVES = 6
"""Number of random moves of an order whose cost changes are compared."""


@explained
def check_problem(
    problem: Problem, samples: int = SAMPLES, *, seed: int = 1, seconds: float = SECONDS
) -> Checked:
    """Compare all ways to evaluate a problem on random solutions, and return the report.

    The ways are its compiled code on each backend, in blocks of several sizes, its Python
    functions, and its reference. Cost changes of moves are compared with differences of costs; a
    repair must return valid solutions, and leave these unchanged if repeated; a cross must create
    valid children, and the same ones from the same random numbers. First, the code runs in a
    separate process to detect reads outside of arrays, and functions that do not return within
    `seconds`. A `RunError` describes the first difference.

    >>> problem = islands.permutation(5, function=lambda order: int(order[0]) + int(order[-1]))
    >>> checked = islands.check_problem(problem, samples=20)
    >>> checked.samples, checked.difference
    (20, None)
    """
    checked = examine(problem, samples, seed=seed, seconds=seconds)
    if checked.difference is not None:
        raise RunError(f"{problem.instance}: {checked.difference}")
    return checked


def examine(
    problem: Problem, samples: int = SAMPLES, *, seed: int = 1, seconds: float = SECONDS
) -> Checked:
    """Return the report of a check, which may contain a difference."""
    if not isinstance(problem, Problem):
        raise UsageError(
            f"check_problem({problem!r:.60}): is not a problem. Pass islands.permutation(...) or"
            " another problem"
        )
    if not 1 <= samples <= _MOST_SAMPLES:
        fix = "Raise it" if samples < 1 else "Lower it"
        raise UsageError(f"samples={samples}: must be from 1 to {_MOST_SAMPLES}. {fix}")
    if not seconds > 0:
        raise UsageError(f"seconds={seconds}: must be more than 0. Raise it")
    checked = Checked(problem, samples, seed)
    try:
        _Check(checked, seconds).perform()
    except Difference as difference:
        checked.difference = str(difference)
    return checked


class _Check:
    """The steps of a check."""

    def __init__(self, checked: Checked, seconds: float) -> None:
        self._checked, self._seconds = checked, seconds
        self._problem = checked.problem
        self._model = self._problem if isinstance(self._problem, Model) else None
        self._solutions = drawn(checked.problem, checked.samples, checked.seed)
        self._backends, missing = backends()
        # With violations, a delta includes their price: `_state` compares it.
        self._has_moves = not self._problem.scale.priced and any(
            move in self._problem.moves for move in self._problem.kind.moves
        )
        self._is_compiled = self._problem.evaluation.python is None
        if self._is_compiled:
            if self._model is None and self._problem.kind.largest is None:
                self._is_compiled = False
                missing = ["its kernels were not checked: that needs orders or subsets"]
            checked.notes += missing
        self._children: tuple[str, NDArray[Any]] | None = None
        """The name and the children of the first way, the reference for all others."""

    def perform(self) -> None:
        """Perform all steps; raise `Difference` at the first difference."""
        problem, model = self._problem, self._model
        if model is not None and self._is_compiled:
            self._contained(model)
        python = list(python_ways(problem, self._backends))
        compiled = list(compiled_ways(problem, self._backends)) if self._is_compiled else []
        self._costs([*python, *compiled])
        if model is not None and problem.scale.priced:
            self._violations(model, compiled)
        for way in compiled:
            if self._has_moves:
                self._deltas(way)
            if model is None or model.functions is None:
                continue
            if follows(model):
                self._state(model, way)
            if model.functions.has_cross:
                self._cross(model, way)
            if model.functions.repair:
                self._repair(model, way)

    def _contained(self, problem: Model) -> None:
        """Run the code in a separate process."""
        if not any(backend.in_host_memory for backend in self._backends):
            self._checked.notes.append(
                "out-of-bounds accesses were not checked, which needs a C++ compiler"
            )
            return
        ends = self._ends()[:, :2]
        ended = run_contained(problem, self._solutions, ends, self._seconds, self._walk(problem))
        if ended.reason:
            self._checked.notes.append(
                "out-of-bounds accesses were not checked, as the compiler has no"
                f" AddressSanitizer: {ended.reason}"
            )
        if not ended.is_sound:
            text = problem.header.text or ""
            solution = brief(self._solutions[min(max(0, ended.done), ended.count - 1)])
            raise Difference(fault_of(ended, text, self._seconds, solution))
        name = "cost, CPU, checked" if ended.sanitized else "cost, CPU, separate process"
        self._passed(name, f"no fault in {ended.done} solutions")

    def _costs(self, ways: Sequence[Way]) -> None:
        """Compare the costs of all ways with those of the first."""
        problem, solutions, count = self._problem, self._solutions, len(self._solutions)
        first: tuple[str, NDArray[Any]] | None = None
        by_way: dict[str, NDArray[Any]] = {}
        for way in ways:
            costs, after, _ = way.timed(solutions)
            again, _, speed = way.timed(solutions[::-1].copy())
            if problem.evaluation.changes_solutions and self._model is None:
                if isinstance(way, CompiledWay):
                    self._changed(way, costs, after, speed)
                continue
            _require_usable(problem, solutions, way.name, costs)
            if isinstance(way, CompiledWay):
                _reject_fault(way.name, way)
            names = way.name, f"{way.name} with the solutions in reverse order"
            _require_equal(problem, solutions, names, (costs, again[::-1]))
            outcome = "the same in reverse order"
            if first is None:
                first = way.name, costs
            else:
                _require_equal(problem, solutions, (first[0], way.name), (first[1], costs))
                outcome = f"{count} of {count} agree with {first[0]}"
            by_way[way.name] = costs
            self._passed(way.name, outcome, speed)
        self._remarks(by_way)

    def _violations(self, problem: Model, compiled: Sequence[CompiledWay]) -> None:
        """Compare the violations of all ways with those of the first."""
        solutions, ways = self._solutions, dict[str, NDArray[Any]]()
        if problem.reference_violation is not None:
            ways["violation, reference"] = problem.violations(solutions)
        if problem.evaluation.python is not None:
            ways["violation"] = problem.evaluated_violations(solutions)
        for way in compiled:
            name = way.named("violation")
            ways[name] = way.program.violations(solutions)
            _reject_fault(name, way)
        first, exact = next(iter(ways.items()))
        for name, other in ways.items():
            equal = agree(exact, other, real=True) & ((exact > 0) == (other > 0))
            if (k := _first_wrong(equal)) is not None:
                both = exact[k], other[k]
                raise messages.two_violations(solutions[k], (first, name), both)
            self._passed(name, f"{int((other == 0).sum())} of {len(other)} solutions are feasible")
        if not any((violations == 0).any() for violations in ways.values()):
            self._checked.notes.append("all random solutions are infeasible")

    def _remarks(self, by_way: dict[str, NDArray[Any]]) -> None:
        """Add notes about the costs of all ways."""
        notes = self._checked.notes
        if self._problem.scale.real and by_way:
            if all(np.isinf(costs).all() for costs in by_way.values()):
                notes.append("all random solutions are infeasible: their costs are infinite")
            others = [costs for name, costs in by_way.items() if name != "reference"]
            if any((costs != others[0]).any() for costs in others):
                notes.append(
                    "the last digits of costs differ between these ways, so their runs have"
                    " different digests"
                )
        if len(by_way) == 1:
            notes.append("there is only one way; add reference= for an independent check")

    def _changed(self, way: CompiledWay, costs: Any, after: Any, speed: float) -> None:
        """Compare costs with NumPy's for the solutions that an evaluation has changed."""
        problem = self._problem
        exact = problem.scale.value_of(problem.costs(after))
        is_feasible = np.array([_is_feasible(problem, solution) for solution in after])
        feasible = int(is_feasible.sum())
        both = (exact[is_feasible], costs[is_feasible])
        _require_equal(problem, after[is_feasible], ("NumPy", way.name), both)
        outcome = f"{feasible} of {feasible} feasible solutions agree with NumPy"
        self._passed(way.name, outcome, speed)

    def _deltas(self, way: CompiledWay) -> None:
        """Compare the cost changes of moves with differences of costs."""
        problem, orders, ends = self._problem, self._solutions, self._ends()
        if ends.shape[1] == 0:
            return
        on_device = problem.layout.to_device(orders)
        for move, changes in way.program.deltas(orders, ends).items():
            name = way.named(f"delta of {move}")
            for m in range(ends.shape[1]):
                after = problem.layout.from_device(moved(on_device, ends[:, m], move))
                pair = way.evaluate(orders)[0], way.evaluate(after)[0]
                self._compare_deltas(name, move, ends[:, m], pair, changes[:, m])
            self._passed(name, f"{changes.size} of {changes.size} agree with differences of costs")

    def _compare_deltas(
        self,
        name: str,
        move: str,
        ends: NDArray[np.int32],
        pair: tuple[NDArray[Any], NDArray[Any]],
        units: NDArray[np.int64],
    ) -> None:
        problem = self._problem
        before, after = pair
        change = np.asarray(problem.scale.user_costs(units))
        usable = np.isfinite(before) & np.isfinite(after)
        with np.errstate(invalid="ignore"):
            exact = after - before
        size = np.maximum(np.abs(before), np.abs(after))
        size[~usable] = 0
        equal = agree(exact, change, real=problem.scale.real, size=size) | ~usable
        if (k := _first_wrong(equal)) is not None:
            raise messages.wrong_delta(
                name=name,
                move=move,
                ends=ends[k],
                solution=self._solutions[k],
                change=change[k].item(),
                costs=(before[k].item(), after[k].item()),
                exact=exact[k].item(),
            )

    def _state(self, problem: Model, way: CompiledWay) -> None:
        """Compare the costs that a state updates after moves with the costs of the solutions."""
        by, faulty = "state", "prepare, change or apply"
        if problem.functions is not None and problem.functions.state is None:
            by = faulty = "delta"
        name = way.named(by)
        followed = self._follow(problem, way, (name, by, faulty), self._solutions)
        self._passed(name, f"{followed} of {followed} moves agree with costs")

    def _cross(self, problem: Model, way: CompiledWay) -> None:
        """Require that children are valid and reproducible, with correct costs after moves."""
        solutions, kind = self._solutions, problem.kind
        random = np.random.default_rng(self._checked.seed)
        mates = Mates(
            solutions[random.permutation(len(solutions))],
            random.integers(2**32, size=(len(solutions), 4), dtype=np.uint32),
        )
        name = way.named("cross")
        children = way.program.children(solutions, mates)
        _reject_fault(name, way)

        for child, *parents in zip(children, solutions, mates.solutions, strict=True):
            if not kind.holds(child[np.newaxis]):
                raise messages.invalid_child(name, child, (parents[0], parents[1]), kind.words)
        if self._children is None:
            self._children = name, children
        turned = Mates(mates.solutions[::-1].copy(), mates.random[::-1].copy())
        again = way.program.children(solutions[::-1].copy(), turned)[::-1]
        for other, others in (self._children, (f"{name} in reverse order", again)):
            equal = others == children
            if children.dtype.kind == "f" and others is not again:  # of another compiler
                equal |= np.isclose(others, children, rtol=_ENTRY_TOLERANCE, atol=0)
            if (k := _first_wrong(equal.all(axis=1))) is not None:
                both, parents_of_both = (children[k], others[k]), (solutions[k], mates.solutions[k])
                raise messages.two_children(
                    name=name, other=other, children=both, parents=parents_of_both
                )
        words = name, "state", "what prepare sets, as cross has used the arrays of the state"
        self._follow(problem, way, words, children, (solutions, mates))
        changed = int((children != solutions).any(axis=1).sum())
        self._passed(
            name, f"{len(children)} valid children, {changed} different from the first parent"
        )

    def _follow(
        self,
        problem: Model,
        way: CompiledWay,
        words: tuple[str, str, str],
        solutions: NDArray[Any],
        parents: tuple[NDArray[Any], Mates] | None = None,
    ) -> int:
        """Compare costs along a walk from solutions, or from children; return the number of moves.

        `words` has the name of the check, the function that updates costs, and what to correct.
        """
        name, by, faulty = words
        walk = random_walk(problem, solutions, _STEPS, self._checked.seed)
        begin, mates = (solutions, None) if parents is None else parents
        followed, reached = way.program.followed(begin, walk, mates)
        before = solutions
        for step, (move, after) in enumerate(zip(walk.names, walk.reached or reached, strict=True)):
            if not problem.kind.holds(after):
                raise messages.invalid_step(name, problem.kind.words)
            exact = self._weighed(problem, way, after)
            usable = np.isfinite(exact) & np.isfinite(followed[:, step])
            size = np.where(usable, np.abs(exact), 0)
            equal = agree(exact, followed[:, step], real=problem.scale.real, size=size) | ~usable
            if (k := _first_wrong(equal)) is not None:
                raise messages.wrong_followed_cost(
                    name=name,
                    steps=step,
                    move=move,
                    solution=before[k],
                    price=problem.price if problem.scale.priced else None,
                    exact=exact[k].item(),
                    followed=followed[k, step].item(),
                    words=(by, faulty),
                )
            before = after
        return followed.size

    def _weighed(self, problem: Model, way: CompiledWay, solutions: NDArray[Any]) -> NDArray[Any]:
        """Return the costs of solutions, including the price of their violations."""
        costs = way.evaluate(solutions)[0]
        if not problem.scale.priced:
            return costs
        minimised = -costs if problem.maximise else costs
        violations = way.program.violations(solutions)
        units = priced.compared(minimised, violations, problem.price, real=problem.scale.real)
        return np.asarray(problem.scale.user_costs(units))

    def _repair(self, problem: Model, way: CompiledWay) -> None:
        """Require that repaired solutions are valid, and unchanged by a second repair."""
        name = way.named("repair")
        kind, solutions = problem.kind, self._solutions
        repaired = way.program.repaired(solutions)
        _reject_fault(name, way)
        for before, after in zip(solutions, repaired, strict=True):
            if not kind.holds(after[np.newaxis]):
                raise messages.invalid_repair(name, before, after, kind.words)
        again = way.program.repaired(repaired)
        if (k := _first_wrong(np.isclose(again, repaired, rtol=1e-12).all(axis=1))) is not None:
            raise messages.unstable_repair(name, solutions[k], repaired[k], again[k])
        changed = int((repaired != solutions).any(axis=1).sum())
        self._passed(name, f"{len(repaired)} valid and stable, {changed} changed")

    def _ends(self) -> NDArray[np.int32]:
        moves = _MOVES if self._has_moves else 0
        return random_ends(len(self._solutions), moves, self._problem.size, self._checked.seed)

    def _walk(self, problem: Model) -> Walk | None:
        """Return the moves after which updated costs are compared, or None."""
        if not follows(problem):
            return None
        return random_walk(problem, self._solutions, _STEPS, self._checked.seed)

    def _passed(self, name: str, outcome: str, speed: float | None = None) -> None:
        """Add a row to the report."""
        self._checked.rows.append(WayResult(name, speed, outcome))


def drawn(problem: Problem, samples: int, seed: int) -> NDArray[Any]:
    """Return random solutions; the first few are replaced by extreme ones."""
    solutions = problem.kind.drawn(samples, seed)
    for k, extreme in enumerate(problem.kind.extremes()[:samples]):
        solutions[k] = extreme
    is_whole = problem.kind.largest is not None and not isinstance(problem, Model)
    return solutions.astype(np.int64) if is_whole else solutions


def _is_feasible(problem: Problem, solution: NDArray[Any]) -> bool:
    try:
        problem.check(solution)
    except IslandsError:
        return False
    return True
