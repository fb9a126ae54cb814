"""Arrays of problems: those stored in files, and the narrowest integer types for a device."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
FACTS = "facts"
"""The name of the array with facts about the problem in JSON, such as its kind."""


def packed(facts: Mapping[str, Any]) -> NDArray[np.uint8]:
    """Return facts in JSON as an array of bytes."""
    return np.frombuffer(json.dumps(facts).encode(), np.uint8)


def narrowed(numbers: NDArray[np.int64], types: Iterable[str]) -> NDArray[Any] | None:
    """Return integers in the first of these types that can represent them, or None."""
    low, high = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    for name in types:
        limits = np.iinfo(name)
        if limits.min <= low and high <= limits.max:
            return np.ascontiguousarray(numbers, name)
    return None
