"""Kinds of solutions, from arguments such as `n`, `choose`, `k`, `low` and `high`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.calls import is_whole
from islands.errors import UsageError
from islands.modelling import messages
from islands.problems.arguments import numbers_of
from islands.problems.solution_kinds import (
    MOST,
    ChoicesKind,
    OrderKind,
    SubsetKind,
    VectorKind,
)
from islands.text import shown


def size_of(n: Any) -> int:
    """Return a number of items; reject anything else."""
    return whole_number("n", n, MOST)


def whole_number(name: str, value: Any, most: int) -> int:
    """Return an argument that is a whole number from 1 to `most`; reject anything else."""
    if not is_whole(value) or not 1 <= value <= most:
        raise UsageError(f"{name}={shown(value)}: must be a whole number from 1 to {most}")
    return int(value)


def flag(name: str, value: Any) -> bool:
    """Return an argument that is True or False; reject anything else."""
    if not isinstance(value, bool | np.bool_):
        raise UsageError(f"{name}={shown(value)}: must be True or False")
    return bool(value)


def orders_of(n: Any, before: Any, parts: Any) -> OrderKind:
    """Return the kind of orders of n items, in a number of parts and with precedence pairs."""
    size = whole = size_of(n)
    if parts is not None:
        parts = whole_number("parts", parts, MOST)
        whole = size_of(size + parts - 1)
    kind = OrderKind(whole, before=_pairs(before, size), parts=parts)
    if kind.before is not None and (cycle := kind.before.cycle()):
        raise messages.cyclic_pairs(cycle=cycle)
    return kind


def _pairs(before: Any, size: int) -> Sequence[Sequence[int]]:
    """Return pairs of items; reject anything else."""
    if before is None:
        return []
    try:
        pairs = numbers_of("before", before, "pairs of items")
    except UsageError:
        pairs = np.zeros(())
    if pairs.size == 0 and pairs.ndim > 0:
        return []
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise messages.not_pairs(before=before)
    if wrong := pairs[(pairs < 0) | (pairs >= size)].tolist():
        raise UsageError(f"before: has the item {wrong[0]}, but items are from 0 to {size - 1}")
    return pairs.tolist()  # type: ignore[no-any-return]


def subsets_of(n: Any, choose: Any) -> SubsetKind:
    """Return the kind of subsets of n items; `choose` is their size, or a pair of limits."""
    size = size_of(n)
    if choose is None:
        return SubsetKind(size)
    if isinstance(choose, tuple | list):
        return SubsetKind(size, choose=_limits(choose, size))
    if not is_whole(choose) or not 1 <= choose < size:
        raise messages.wrong_choose(choose=choose, size=size)
    return SubsetKind(size, choose=(int(choose), int(choose)))


def _limits(choose: Sequence[Any], size: int) -> tuple[int, int]:
    """Return the minimum and maximum number of items."""
    whole = [number for number in choose if is_whole(number)]
    if len(choose) != 2 or len(whole) != 2 or not 0 <= whole[0] <= whole[1] <= size:
        raise messages.wrong_limits(choose=choose, size=size)
    if whole[0] == whole[1] and not 1 <= whole[0] < size:
        fix = "Lower least" if whole[0] else "Raise most"
        raise UsageError(f"choose={shown(choose)}: allows one subset only. {fix}")
    return int(whole[0]), int(whole[1])


def choices_of(n: Any, k: Any, groups: Any, at_most: Any) -> ChoicesKind:
    """Return the kind of choices of one of `k` values for each item; `k` may be a list."""
    size = size_of(n)
    if not (is_whole(k) or isinstance(k, Sequence | np.ndarray)) or isinstance(k, str):
        raise messages.wrong_k(k=k)
    sizes: Any = int(k) if is_whole(k) else _whole_for_each("k", k, "number of values", size)
    smallest, largest = int(np.min(sizes)), int(np.max(sizes))
    if smallest < 1 or largest > MOST:
        wrong = smallest if smallest < 1 else largest
        raise UsageError(f"k={shown(wrong)}: a number of values must be from 1 to {MOST}")
    if largest == 1:
        raise UsageError("k=1: leaves nothing to choose. Pass at least 2 values for an item")
    options: dict[str, Any] = {}
    if groups is not None:
        options["groups"] = _whole_for_each("groups", groups, "group", size)
    if at_most is not None:
        if smallest != largest:
            raise UsageError(
                "at_most: needs an equal number of values for all items. Pass a number as k"
            )
        options["at_most"] = _most_items(at_most, largest, size)
        if groups is not None and options["at_most"].sum() == size:
            raise messages.only_exchanges_across_groups(at_most=at_most, size=size)
    return ChoicesKind(size, sizes=sizes, **options)


def _most_items(at_most: Any, values: int, size: int) -> NDArray[np.int64]:
    """Return the maximum number of items of each value."""
    if is_whole(at_most):
        most = np.full(values, min(int(at_most), size))
    else:
        what = "largest number of items of each value"
        most = numbers_of("at_most", at_most, f"a whole number, or a list of them, the {what}")
        if most.dtype.kind not in "iu" or most.shape != (values,):
            raise messages.wrong_at_most(at_most=at_most, values=values, what=what)
        most = np.minimum(most, size)
    if (most < 1).any():
        raise messages.at_most_below_one(at_most=at_most)
    if most.sum() < size:
        raise messages.at_most_too_low(at_most=at_most, total=most.sum(), size=size)
    return most.astype(np.int64)


def _whole_for_each(name: str, value: Any, what: str, size: int) -> NDArray[np.int64]:
    """Return a whole number for each item; reject anything else."""
    fix = f"Pass a list with the {what} of each of the n={size} items"
    numbers = numbers_of(name, value, f"whole numbers, the {what} of each item")
    if numbers.dtype.kind not in "iu":
        raise UsageError(f"{name}={shown(value)}: has a number that is not whole. {fix}")
    if numbers.shape != (size,):
        raise UsageError(f"{name}: has the shape {numbers.shape}. {fix}")
    return numbers.astype(np.int64)


def vectors_of(low: ArrayLike, high: ArrayLike, n: Any) -> VectorKind:
    """Return the kind of vectors between bounds, which are vectors or numbers for all `n`."""
    bounds = {}
    for name, bound in {"low": low, "high": high}.items():
        bounds[name] = numbers_of(name, bound, "a number, or a list of numbers").astype(np.float64)
        if bounds[name].ndim > 1:
            raise UsageError(f"{name}: has the shape {bounds[name].shape}. Pass one bound per item")
        if not np.isfinite(bounds[name]).all():
            raise UsageError(
                f"{name}={shown(bound)}: bounds must be finite. Pass large numbers instead"
            )
    sizes = {bound.size for bound in bounds.values() if bound.ndim == 1}
    if n is not None:
        sizes.add(size_of(n))
    if len(sizes) != 1:
        fix = (
            "Pass vectors of equal length"
            if sizes
            else "Pass n, the number of coordinates, or vectors"
        )
        lengths = " and ".join(map(str, sorted(sizes))) or "unknown"
        raise UsageError(f"low and high: the number of coordinates is {lengths}. {fix}")
    (size,) = sizes
    least, most = (
        np.array(np.broadcast_to(bounds[name], (size_of(size),))) for name in ("low", "high")
    )
    if wrong := np.flatnonzero(~(least < most)).tolist():
        i = wrong[0]
        raise UsageError(
            f"low[{i}]={least[i]:g} with high[{i}]={most[i]:g}: low must be less than high"
        )
    with np.errstate(over="ignore"):
        is_finite = np.isfinite(most - least).all()
    if not is_finite:
        raise UsageError("high - low: is infinite for a coordinate. Pass smaller bounds")
    return VectorKind(size, least, most)
