"""The longer error messages about numbers in files; each function returns an exception."""

from collections.abc import Sequence

from islands.errors import InputError
from islands.instances.lines import Lines, quoted
from islands.text import counted


def ambiguous_costs(lines: Lines, *, n: int, count: int, readings: Sequence[str]) -> InputError:
    """Return the error for `count` numbers after n if the costs may be in several places."""
    entries = 2 * n * n
    costs = {1: "the first or the last is a cost", 2: "the first two are costs"}[count - entries]
    return lines.error(
        f"{counted(count, 'number')} after n, {count - entries} more than the {entries} of two"
        f" matrices of size {n}, and the lines do not show whether {costs}: it may be"
        f" {'; or '.join(readings)}. Put only n and all costs on the first line, and each row of a"
        " matrix on a line of its own; or remove the costs"
    )


def too_few_numbers(lines: Lines, *, n: int, count: int, costs: int) -> InputError:
    """Return the error for a file with `costs` costs and then only `count` matrix entries."""
    entries = 2 * n * n
    besides = f" besides {counted(costs, 'cost')} after n" if costs else ""
    fix = ""
    if count + costs >= entries:
        these = "this number belongs" if costs == 1 else "these belong"
        fix = f". If {these} to A, put n alone on its line, then A"
    return lines.error(
        f"the numbers end after {count} of the {entries} of two matrices of size {n}{besides}."
        f" Complete them, or correct n at the beginning{fix}"
    )


def too_many_numbers(lines: Lines, *, n: int) -> InputError:
    """Return the error for additional numbers after two matrices and their costs."""
    return lines.error(
        f"more than the {2 * n * n} numbers of two matrices of size {n} and their best known cost,"
        " which is one number after B, or one or two after n. Remove the others, or correct n at"
        " the beginning"
    )


def invalid_entry(lines: Lines, *, word: bytes, largest: int) -> InputError:
    """Return the error for a word that is not a valid entry of a QAPLIB matrix."""
    return lines.error(
        f"{quoted(word)} is not a whole number from 0 to {largest}. Correct it; scaling a matrix,"
        " or adding a number to all its entries, does not change the best assignment"
    )


def too_few_weights(lines: Lines, *, n: int, count: int, needed: int) -> InputError:
    """Return the error for a section of weights that ends too early."""
    return lines.error(
        f"the weights end after {count} of the {needed} that DIMENSION {n} requires. Complete them,"
        " or correct DIMENSION or EDGE_WEIGHT_FORMAT"
    )


def too_many_weights(lines: Lines, *, n: int, needed: int) -> InputError:
    """Return the error for a section with more weights than the matrix needs."""
    return lines.error(
        f"more weights than the {needed} that DIMENSION {n} requires. Remove them, or correct"
        " DIMENSION or EDGE_WEIGHT_FORMAT"
    )


def asymmetric_weights(
    lines: Lines, *, kind: str, ends: tuple[int, int], there: int, back: int
) -> InputError:
    """Return the error for two cities with different weights in the two directions."""
    one, two = ends
    path = ", and pass --set ends=any:any," if kind == "HPP" else ""
    return lines.error(
        f"weight({one},{two}) = {there} but weight({two},{one}) = {back}, which a TYPE {kind} must"
        f" not have. Write TYPE : ATSP{path} if lengths depend on the direction, or make both equal"
    )
