"""CP-SAT of OR-Tools on models, in the formulations that its users would write."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.models.plain import Colouring, Covering, Medians, Packing, Plain, Quadratic, whole
from islands.models.shops import Shop
from islands.problems.base import Problem
from islands.studies.bench.quality_runs import Course
from islands.studies.bench.rivals.base import Answer, Rival

Values = Callable[[Callable[[Any], int]], NDArray[Any]]
"""Returns the solution, given a function that returns the value of a variable."""


class CpSat(Rival, of="cpsat"):
    """CP-SAT of OR-Tools, with a worker for each thread."""

    statements = (Shop, Covering, Colouring, Packing, Medians, Quadratic)

    def given(self, problem: Problem) -> Any:
        """Return plain data, or None for a quadratic problem without a size or with fractions."""
        plain = super().given(problem)
        if isinstance(plain, Quadratic) and (plain.size is None or whole(plain.pairs[2]) is None):
            return None
        return plain

    def solve(self, problem: Any, seed: int, seconds: float, threads: int = 1) -> Answer:
        """Run CP-SAT once."""
        from ortools.sat.python import cp_model

        model, solver = cp_model.CpModel(), cp_model.CpSolver()
        values = _STATEMENTS[type(problem)](model, problem)
        sign = getattr(problem, "sign", 1)
        course = Course(maximise=sign < 0)
        callback: Any = cp_model.CpSolverSolutionCallback

        class Seen(callback):  # type: ignore[misc]
            def on_solution_callback(self) -> None:
                cost = round(self.objective_value)
                course.add_now(cost)
                if problem.best is not None and sign * (cost - problem.best) <= 0:
                    self.stop_search()

        solver.parameters.num_workers, solver.parameters.random_seed = threads, seed
        solver.parameters.max_time_in_seconds = seconds
        status: Any = solver.solve(model, Seen())
        elapsed = course.passed()
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return Answer((), None, elapsed)
        solution, cost = problem.answer(values(solver.value))
        course.add(elapsed, cost)
        return Answer(course.points, solution, elapsed, proved=status == cp_model.OPTIMAL)


def _shop_in(model: Any, shop: Shop) -> Values:
    """Formulate a job shop with intervals; the solution is the start of each operation."""
    times, most = shop.time.tolist(), int(shop.time.sum())
    begins = [model.new_int_var(0, most, "") for _ in times]
    last = model.new_int_var(0, most, "")
    on_machine: dict[int, list[Any]] = {}
    for o, (begin, lasting, machine) in enumerate(
        zip(begins, times, shop.machine.tolist(), strict=True)
    ):
        interval = model.new_fixed_size_interval_var(begin, lasting, "")
        on_machine.setdefault(machine, []).append(interval)
        follows = o + 1 < len(times) and shop.job[o + 1] == shop.job[o]
        model.add(begin + lasting <= (begins[o + 1] if follows else last))
    for intervals in on_machine.values():
        model.add_no_overlap(intervals)
    model.minimize(last)
    return _all(begins)


def _all(variables: list[Any]) -> Values:
    return lambda value: np.array([*map(value, variables)])


def _covering_in(model: Any, covering: Covering) -> Values:
    """Formulate a covering with a clause for each row; the solution is the chosen columns."""
    chosen = [model.new_bool_var("") for _ in covering.costs]
    for first, end in zip(covering.row_first[:-1], covering.row_first[1:], strict=True):
        model.add_bool_or([chosen[j] for j in covering.column[first:end].tolist()])
    model.minimize(sum(int(by) * column for by, column in zip(covering.costs, chosen, strict=True)))
    return _all(chosen)


def _table(model: Any, rows: int, columns: int) -> tuple[list[list[Any]], Values]:
    """Return Boolean variables, of which one per row is true, and a reader of its columns."""
    table = [[model.new_bool_var("") for _ in range(columns)] for _ in range(rows)]
    for row in table:
        model.add_exactly_one(row)
    return table, lambda value: np.array([[*map(value, row)].index(1) for row in table])


def _count(model: Any, columns: int) -> list[Any]:
    """Minimise the number of used columns, which come first; return a variable for each."""
    used = [model.new_bool_var("") for _ in range(columns)]
    for one, other in zip(used[1:], used, strict=False):
        model.add_implication(one, other)
    model.minimize(sum(used))
    return used


def _colouring_in(model: Any, graph: Colouring) -> Values:
    """Formulate a colouring: each colour occurs at most once in a clique.

    The colours of the largest clique are fixed. The cliques cover all edges.
    """
    table, values = _table(model, graph.nodes, graph.most)
    used = _count(model, graph.most)
    for i in range(graph.nodes):
        for c, is_used in enumerate(used):
            model.add_implication(table[i][c], is_used)
    cliques = _cliques(graph)
    for clique in cliques:
        for c in range(graph.most):
            model.add_at_most_one([table[i][c] for i in clique])
    largest: list[int] = max(cliques, key=len)
    for c, i in enumerate(largest):
        model.add(table[i][c] == 1)
    return values


def _cliques(graph: Colouring) -> list[list[int]]:
    """Return cliques that cover all edges, found one after another."""
    are_near = np.zeros((graph.nodes, graph.nodes), bool)
    are_near[graph.edges[:, 0], graph.edges[:, 1]] = True
    are_near |= are_near.T
    left, cliques = are_near.copy(), []
    for i, j in graph.edges.tolist():
        if not left[i, j]:
            continue
        clique, others = [i, j], are_near[i] & are_near[j]
        while others.any():
            # The node with the most edges into the clique that no earlier clique covers.
            k = int((left[clique].sum(axis=0) * others + others).argmax())
            clique.append(k)
            others &= are_near[k]
        left[np.ix_(clique, clique)] = False
        cliques.append(clique)
    return cliques


def _packing_in(model: Any, packing: Packing) -> Values:
    """Formulate a packing; item i, by decreasing size, is in one of the first i + 1 bins."""
    table, values = _table(model, len(packing.sizes), packing.most)
    used = _count(model, packing.most)
    order = np.argsort(-packing.sizes, kind="stable").tolist()
    sizes = packing.sizes.tolist()
    for b in range(packing.most):
        load = sum(size * row[b] for size, row in zip(sizes, table, strict=True))
        model.add(load <= packing.capacity * used[b])
    for place, i in enumerate(order):
        for b in range(place + 1, packing.most):
            model.add(table[i][b] == 0)
    return values


def _medians_in(model: Any, medians: Medians) -> Values:
    """Formulate p-median with the place of each customer; the solution is the chosen places."""
    places, customers = medians.distances.shape
    table, _ = _table(model, customers, places)
    chosen = [model.new_bool_var("") for _ in range(places)]
    for row in table:
        for is_own, is_chosen in zip(row, chosen, strict=True):
            model.add_implication(is_own, is_chosen)
    model.add(sum(chosen) == medians.p)
    lengths = medians.distances.T.flatten().tolist()
    entries = [entry for row in table for entry in row]
    model.minimize(sum(by * entry for by, entry in zip(lengths, entries, strict=True)))
    return _all(chosen)


def _choice_in(model: Any, choice: Quadratic) -> Values:
    """Formulate a choice of a given number of items, with a variable for each pair."""
    chosen = [model.new_bool_var("") for _ in choice.single]
    model.add(sum(chosen) == choice.size)
    terms = []
    numbers = whole(choice.pairs[2])
    assert numbers is not None
    for i, j, by in zip(*(array.tolist() for array in (*choice.pairs[:2], numbers)), strict=True):
        both = model.new_bool_var("")
        if by < 0:
            model.add_implication(both, chosen[i])
            model.add_implication(both, chosen[j])
        else:
            model.add_bool_or([both, chosen[i].negated(), chosen[j].negated()])
        terms.append(by * both)
    model.maximize(-sum(terms)) if choice.sign < 0 else model.minimize(sum(terms))
    return _all(chosen)


_STATEMENTS: dict[type[Plain], Callable[[Any, Any], Values]] = {
    Shop: _shop_in,
    Covering: _covering_in,
    Colouring: _colouring_in,
    Packing: _packing_in,
    Medians: _medians_in,
    Quadratic: _choice_in,
}
