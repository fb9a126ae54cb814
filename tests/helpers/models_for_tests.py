"""Small models in CUDA and in Python, with the same costs."""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import islands
from islands.modelling.model import Model

HEAD = "__device__ {} cost(const Solution& s, int n, const Data& data) {{\n"
FLOW = (
    HEAD.format("long long")
    + """    long long done[4] = {0, 0, 0, 0};
    for (int i = 0; i < n; ++i) {
        const int* own = data.times + s[i] * data.machines;
        done[0] += own[0];
        for (int k = 1; k < data.machines; ++k) done[k] = max(done[k], done[k - 1]) + own[k];
    }
    return done[data.machines - 1];
}
"""
)
CHOSEN = (
    HEAD.format("double")
    + """    double weight = 0, value = 0;
    for (int i = 0; i < n; ++i) {
        if (s[i]) weight += data.weights[i], value += data.values[i];
    }
    return weight > data.limit ? -INFINITY : value;
}
"""
)
SQUARES = (
    HEAD.format("double")
    + """    double sum = 0;
    for (int i = 0; i < n; ++i) {
        const double x = s[i];
        sum += x * x * data.weights[i];
    }
    return sum;
}
"""
)
_RANDOM = np.random.default_rng(7)
TIMES = _RANDOM.integers(1, 60, (9, 4)).astype(np.int32)
WEIGHTS, VALUES = _RANDOM.random((2, 35))
LIMIT = 14.0


def module(array: Any) -> Any:
    """Return NumPy or CuPy, whichever an array belongs to."""
    return sys.modules[type(array).__module__.partition(".")[0]]


def makespans(orders: NDArray[np.int32], times: Any = None) -> NDArray[np.int64]:
    """Return the makespans; on a GPU, `times` saves the copy of the table to the device."""
    xp = module(orders)
    times = xp.asarray(TIMES) if times is None else times
    done = xp.zeros((len(orders), 4), np.int64)
    for i in range(orders.shape[1]):
        own = times[orders[:, i]]
        done[:, 0] += own[:, 0]
        for k in range(1, 4):
            done[:, k] = np.maximum(done[:, k], done[:, k - 1]) + own[:, k]
    return done[:, -1]


def profits(subsets: NDArray[np.int8]) -> NDArray[np.float64]:
    weight, value = module(subsets).zeros((2, len(subsets)))
    for i in range(subsets.shape[1]):
        weight = weight + subsets[:, i] * float(WEIGHTS[i])
        value = value + subsets[:, i] * float(VALUES[i])
    return np.where(weight > LIMIT, -np.inf, value)


def squares(vectors: NDArray[Any]) -> NDArray[np.float64]:
    total = module(vectors).zeros(len(vectors))
    for i in range(vectors.shape[1]):
        x = vectors[:, i].astype(np.float64)
        total = total + x * x * float(WEIGHTS[i])
    return total


def model_of(kind: str, by: str, **more: Any) -> Model:
    """Return a small problem of a kind, whose costs are given by `cost`, `batch` or `function`."""
    batch = {"permutation": makespans, "subset": profits}.get(kind, squares)
    made: dict[str, Any] = {"name": f"small-{kind}"}
    if by == "cost":
        text, data = {
            "permutation": (FLOW, {"times": TIMES, "machines": 4}),
            "subset": (CHOSEN, {"weights": WEIGHTS, "values": VALUES, "limit": LIMIT}),
        }.get(kind, (SQUARES, {"weights": WEIGHTS}))
        made |= {"cost": text, "data": data, "reference": batch}
    else:
        made[by] = batch if by == "batch" else lambda one: batch(one[np.newaxis])[0].item()
    made |= {"maximise": kind == "subset"} | more
    if kind == "permutation":
        return islands.permutation(9, **made)
    if kind == "subset":
        return islands.subset(35, **made)
    if kind == "keys":
        return islands.keys(7, **made)
    return islands.real(-2.0, [1.0, 2.0, 3.0, 4.0, 5.0], **made)


KINDS = ("permutation", "subset", "keys", "real")


def cost_text(body: str, kind: str = "long long") -> str:
    """Return the text of a cost with this body, which begins in its second line."""
    return f"{HEAD.format(kind)}{body}\n}}\n"


def sum_text(
    term: str, *, name: str = "cost", first: str = "0", of: str = "sum", kind: str = "long long"
) -> str:
    """Return the text of a function: the expression `of` the sum of a term over all entries `i`."""
    return f"""
__device__ {kind} {name}(const Solution& s, int n, const Data& data) {{
    {kind} sum = {first};
    for (int i = 0; i < n; ++i) sum += {term};
    return {of};
}}
"""


def repair_text(body: str) -> str:
    return f"__device__ void repair(Changing& s, int n, const Data& data) {{ {body} }}"


def delta_text(body: str) -> str:
    """Return the text of the change of a cost by a swap."""
    head = "__device__ long long delta(const Solution& s, int n, const Data& data, Swap move)"
    return f"{head} {{ {body} }}"
