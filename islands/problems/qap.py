"""The quadratic assignment problem: assign n facilities to n different locations.

An assignment p, with facility i at location p(i), costs the sum of A[i, j] * B[p(i), p(j)] over all
ordered pairs, including i = j. `islands.qap` can add a cost L[i, p(i)] for each facility.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.backends.source import Header, Macros
from islands.errors import InputError, RunError
from islands.instances.catalogue import BestKnown, catalogue
from islands.instances.qaplib import QapFile, read_qap
from islands.instances.sln import WORDS, base_remark, cost_remarks, is_inverse, read_sln, write_sln
from islands.instances.solution_files import (
    Remark,
    counting_as_in,
    order_fault,
    read_json,
    solution_file,
)
from islands.problems.arrays import Arrays, narrowed
from islands.problems.base import Problem, Solution
from islands.problems.capabilities import Layout, ProblemWords
from islands.problems.evaluation import Evaluation
from islands.problems.qap_exchanges import Swaps
from islands.problems.qap_form import form

Matrix = NDArray[np.int64]

_CACHED = 160
"""Up to this size, both matrices fit into a CPU core's cache with 32 bits per entry."""
_PRODUCTS_AT_ONCE = 1 << 20

COST_MAX = 2**60
"""Up to this cost, cost differences and their terms also fit into 64 bits."""

_FIX = "Divide each matrix by a common factor of its numbers"

_C_TYPES = {"uint8": "unsigned char", "uint16": "unsigned short", "int32": "int"}
"""Types of matrices on the device, the narrowest first."""


class Qap(Problem):
    """An instance; its matrices may be asymmetric and have non-zero diagonals."""

    name: str = "qap"
    header: Header = Header("problems/qap.cuh")
    solution_kind: str = "order"
    moves: tuple[str, ...] = ("swap", "reversal", "insertion")
    solution_suffix: ClassVar[str] = ".sln"
    swaps: Swaps

    def __init__(
        self, file: QapFile, instance: str | None = None, best_known: BestKnown | None = None
    ) -> None:
        self.instance = instance or file.name
        self.size = file.size
        self.best_known = best_known
        self.file, self.path = file, file.path
        self._check_costs()
        self.symmetric = _is_symmetric(file.a) or _is_symmetric(file.b)
        """Whether either matrix is symmetric; if so, both are stored as symmetric matrices."""
        self.form = form(file.a, file.b, file.linear)
        self.words = ProblemWords(structure=self.form.words())
        self.layout = Layout(
            assigns=True, to_device=self.form.to_device, from_device=self.form.from_device
        )
        a, b = self.form.a, self.form.b
        a, b = _halved(a, b) if self.symmetric else (a, b)
        self._on_device = [self._narrowed(a), self._narrowed(b)]
        if self.form.linear is not None:
            self._on_device.append(self._narrowed(self.form.linear))
        self.swaps = Swaps(file, self.form, self._on_device, symmetric=self.symmetric)
        if self.swaps.sparse is not None:
            self.lower_bound = self.swaps.sparse.lower_bound

    @classmethod
    def read(
        cls, path: Path, instance: str | None = None, best_known: BestKnown | None = None
    ) -> Qap:
        """Return the instance in a QAPLIB file."""
        problem = cls(read_qap(path), instance or str(path), best_known)
        problem.best_known, remarks = checked_best_known(problem)
        problem.words = replace(problem.words, remarks=remarks)
        return problem

    def saved(self) -> Arrays:
        """Return the matrices."""
        linear = {} if self.file.linear is None else {"linear": self.file.linear}
        return {"a": self.file.a, "b": self.file.b, **linear}

    @classmethod
    def restored(
        cls, arrays: Mapping[str, NDArray[Any]], name: str, best: BestKnown | None
    ) -> Self:
        """Return the problem from the arrays of `saved`."""
        a, b, linear = arrays["a"], arrays["b"], arrays.get("linear")
        return cls(QapFile(name, None, len(a), a, b, linear=linear), name, best)

    def defines(self) -> Macros:
        """Return the types of the matrices, costs and differences, and which terms are zero."""
        a, b, *linear = self._on_device
        diagonal = bool(a.diagonal().any() and b.diagonal().any())
        # A swap changes 4 n products and the symmetric ones, and 4 linear terms.
        linear_change = 8 * sum(int(matrix.max()) for matrix in linear)
        is_small = 8 * self.size * int(a.max()) * int(b.max()) + linear_change < 2**31
        largest = int(a.sum()) * int(b.max()) + self._most_linear()
        return {
            "PROBLEM_SWAPS": Header("problems/qap_swaps.cuh"),
            "QAP_A": _C_TYPES[a.dtype.name],
            "QAP_B": _C_TYPES[b.dtype.name],
            "QAP_SYMMETRIC": str(int(self.symmetric)),
            "QAP_DIAGONAL": str(int(diagonal)),
            "QAP_FITS_CACHE": str(int(self.size <= _CACHED)),
            "QAP_COST": "int" if largest < 2**31 else "int64_t",
            "QAP_DELTA": "int" if is_small else "long long",
            **({"QAP_LINEAR": _C_TYPES[linear[0].dtype.name]} if linear else {}),
            **({} if self.form.after is None else {"PROBLEM_CLASSES": "1"}),
            **self.swaps.defines(),
        }

    def launch_key(self) -> Hashable:
        """Return the size and the structure; None for subclasses or with a best known value."""
        is_plain = type(self) is Qap and self.best_known is None
        if not is_plain or self.form.after is not None:
            return None
        swaps = self.swaps
        structure = swaps.is_unstructured, swaps.is_dominated, self.form.places is None
        network: tuple[Hashable, ...] = ()
        if (sparse := swaps.sparse) is not None:
            network = swaps.is_network, sparse.can_grow, sparse.is_metric, sparse.launch_key
        return (self.size, *structure, *network, *self.defines().items())

    @property
    def evaluation(self) -> Evaluation:
        """Evaluation by kernels, whose threads divide up the pairs.

        A move changes the products of two facilities, or of all moved ones.
        """
        moved = self.size**2 // 4
        return Evaluation(
            self,
            items=max(1, self.form.pairs),
            reads={"swap": self.size, "reversal": moved, "insertion": moved},
            same_memory=self.form.after is None,  # otherwise, memory depends on the number of pairs
        )

    def arrays(self) -> list[NDArray[np.generic]]:
        """Return the matrices, with symmetric pairs combined, and `Form.after` if it exists."""
        after = self.form.after
        return [*self._on_device, *([] if after is None else [after])]

    def costs(self, solutions: ArrayLike) -> NDArray[np.int64]:
        """Return the cost of each row, in which entry i is the location of facility i."""
        solutions = self._rows(solutions)
        count, n = solutions.shape
        many = max(1, _PRODUCTS_AT_ONCE // n**2)
        rows = max(1, _PRODUCTS_AT_ONCE // n)
        costs = self._linear_costs(solutions)
        for start in range(0, count, many):
            places = solutions[start : start + many]
            for row in range(0, n, rows):
                part = places[:, row : row + rows]
                b = self.file.b[part[:, :, np.newaxis], places[:, np.newaxis, :]]
                costs[start : start + many] += np.einsum(
                    "ij,kij->k", self.file.a[row : row + rows], b
                )
        return costs

    def _linear_costs(self, solutions: NDArray[np.int64]) -> NDArray[np.int64]:
        costs = np.zeros(len(solutions), np.int64)
        if self.file.linear is not None:
            for row, at in zip(self.file.linear, solutions.T, strict=True):
                costs += row[at]
        return costs

    def check(self, solution: Solution) -> None:
        """Raise a `RunError` if `solution` does not use each location once."""
        fault = order_fault(solution, self.size, WORDS)
        if fault is not None:
            raise RunError(
                f"not an assignment of {self.instance}: {fault}. Each location must appear once"
            )

    def read_solution(self, path: Path) -> Solution:
        """Return the assignment in a `.sln` file, a JSON file or a run's folder."""
        return self.read_remarked(path)[0]

    def read_remarked(self, path: Path) -> tuple[Solution, list[Remark]]:
        """Return the assignment in a file, with remarks about its header."""
        path = solution_file(path, self.solution_suffix, WORDS.whole)
        if path.suffix == ".json":
            return read_json(path, self.size, WORDS), []
        file = read_sln(path, self.size)
        if order_fault(file.order, self.size, WORDS) is not None:
            return file.order, [base_remark(file)]
        inverse = np.argsort(file.order)
        cost, inverse_cost = self.costs(np.stack([file.order, inverse])).tolist()
        solution = inverse if is_inverse(file, cost, inverse_cost) else file.order
        return solution, [base_remark(file), *cost_remarks(file, cost, inverse_cost)]

    def remarks_on(self, path: Path, cost: float | None) -> list[Remark]:
        """Return remarks; an assignment with the stated best value confirms this value."""
        if cost is None:
            remarks = super().remarks_on(path, cost)
        else:
            remarks = confirmed(self, path.name, cost)
        return [*remarks, *self.read_remarked(path)[1]]

    def write_solution(self, path: Path, solution: Solution, cost: int) -> None:
        """Write a QAPLIB solution."""
        write_sln(path, solution, cost)

    def _check_costs(self) -> None:
        """Reject an instance whose costs may be too large for exact arithmetic."""
        total, largest = int(self.file.a.sum()), int(self.file.b.max())
        most = total * largest + self._most_linear()
        others = "" if self.file.linear is None else " and the linear terms"
        if most > COST_MAX:
            raise self._error(
                f"costs may reach {most}, the sum of A times the largest number of B{others},"
                f" but are only exact up to {COST_MAX}. {_FIX}"
            )

    def _most_linear(self) -> int:
        """Return an upper bound on the linear terms of a cost."""
        return 0 if self.file.linear is None else int(self.file.linear.max(axis=1).sum())

    def _narrowed(self, matrix: Matrix) -> NDArray[Any]:
        """Return the matrix in the narrowest device type that can represent it."""
        narrow = narrowed(matrix, _C_TYPES)
        if narrow is None:
            raise self._error(
                f"two entries opposite each other across the diagonal add up to {matrix.max()}; at"
                f" most {np.iinfo(np.int32).max} is possible. {_FIX}"
            )
        return narrow

    def _error(self, message: str) -> InputError:
        return InputError(f"{self.file.path or self.instance}: {message}")


def _is_symmetric(matrix: Matrix) -> bool:
    return np.array_equal(matrix, matrix.T)


def _halved(a: Matrix, b: Matrix) -> tuple[Matrix, Matrix]:
    """Return symmetric matrices that give the same costs as a sum over i <= j."""
    return (_folded(a), b) if _is_symmetric(b) else (a, _folded(b))


def _folded(matrix: Matrix) -> Matrix:
    """Return the sum of the matrix and its transpose, with the diagonal unchanged."""
    folded = matrix + matrix.T
    np.fill_diagonal(folded, matrix.diagonal())
    return folded


def checked_best_known(problem: Qap) -> tuple[BestKnown | None, list[Remark]]:
    """Return the best known value of an instance, with remarks about the value in its file."""
    stated, known = problem.file.stated, problem.best_known
    words, value = stated.words(), stated.value
    remarks = [Remark("stated", value, f"the file says {words}")] if words else []
    if value is None:
        return known, remarks
    agrees, reason = _compared(problem, value)
    words = reason if agrees else f"this is not accepted as the best known: {reason}"
    remarks.append(Remark("stated_agrees", agrees, words))
    if known is None and agrees:
        known = BestKnown(value, "best_known", f"the file itself; {reason}")
    return known, remarks


def _compared(problem: Qap, value: int) -> tuple[bool, str]:
    """Return whether an independent source agrees with the value, and the reason."""
    known = problem.best_known
    if known is not None:
        agrees = known.value == value
        return agrees, "the catalogue agrees" if agrees else f"the catalogue has {known.value}"
    published = _published(problem)
    if published is None:
        return _solved(problem, value)
    best, name = published
    if best == value:
        return True, f"the catalogue agrees: {name} has this value"
    differs = f"the catalogue has {best} for {name}, with the same name and size"
    if best < value:
        return False, differs
    agrees, reason = _solved(problem, value)
    return agrees, f"{reason}; {differs}"


def confirmed(problem: Qap, name: str, cost: float) -> list[Remark]:
    """Return the problem's remarks, after an assignment with this cost was read from `name`."""
    published = _published(problem)
    is_worse = published is not None and published[0] < cost
    if problem.best_known is not None or cost != problem.file.stated.value or is_worse:
        return list(problem.words.remarks)
    shown = Remark("stated_agrees", True, f"the assignment in {name} has this cost")
    return [shown if remark.key == shown.key else remark for remark in problem.words.remarks]


def _published(problem: Qap) -> tuple[float, str] | None:
    """Return the best value of catalogue entries of this name and size, and the full name."""
    values = [
        (entry.best_known.value, entry.full_name)
        for entry in catalogue().named(problem.file.name)
        if (entry.problem, entry.size) == (problem.name, problem.size) and entry.best_known
    ]
    return min(values, default=None)


def _solved(problem: Qap, value: int) -> tuple[bool, str]:
    """Return whether the assignment in the solution file, or its inverse, has this cost.

    Also return the reason. The cost in the header of the solution file is ignored.
    """
    assert problem.path is not None, "a stated value is read from a file"
    name = f"{problem.file.name}.sln"
    paths = [problem.path.with_name(file) for file in (name, f"{name}.gz")]
    path = next((path for path in paths if path.exists()), None)
    if path is None:
        return False, f"there is no {name} next to it to confirm it"
    try:
        order = read_sln(path, problem.size).order
    except InputError as error:
        return False, f"{path.name} does not confirm it ({error})"
    with counting_as_in(path):
        fault = order_fault(order, problem.size, WORDS)
    if fault is not None:
        return False, f"{path.name} does not confirm it ({fault})"
    costs = problem.costs(np.stack([order, np.argsort(order)])).tolist()
    if value in costs:
        return True, f"the assignment in {path.name} has this cost"
    shown = " or, inverted, ".join(map(str, dict.fromkeys(costs)))
    return False, f"the assignment in {path.name} costs {shown}"
