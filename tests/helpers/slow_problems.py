"""Problems of a user's own whose evaluations take a chosen time, on any device."""

import random
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import islands
from islands.modelling.model import Model

KINDS = ("permutation", "subset", "keys", "real")
WAYS = ("cost", "cooperative", "delta", "repair", "function", "batch")
"""How the cost is defined: `delta` adds its changes by moves in CUDA, `repair` a repair."""
LONGEST, LONGEST_IN_PYTHON = 1.0, 0.3
"""Seconds of the longest evaluation: Python also checks the result after the end."""

# A CPU sleeps, so that the tests of several ranks do not compete for cores. Of the threads of a
# block that evaluate one solution together, one waits.
_WAIT = """
__device__ void wait(int micros) {
#if defined(__CUDACC__) && !defined(EMULATED)
    for (const long long since = clock64(); clock64() - since < 1500LL * micros;) {}
#else
    for (; micros >= 500'000; micros -= 500'000) ::usleep(500'000);
    if (micros >= 100) {
        ::usleep(micros);
    } else {
        for (volatile int k = 0; k < 300 * micros; k = k + 1) {}
    }
#endif
}
// Only some solutions are slow, and none of the first ones.
__device__ void wait_for(long long value, const Data& data) {
    static int evaluated = 0;
    if (++evaluated > data.quick && value % data.share == 0) wait(data.micros);
}
"""
_VALUE = """
template <class Of>
__device__ long long value_of(const Of& s, int n, const Data& data) {
    long long value = 0;
    for (int i = 0; i < n; ++i) value += (long long)(data.scale * s[i]) * data.weights[i];
    return value;
}
"""
_COST = (
    _WAIT
    + _VALUE
    + """
__device__ RESULT cost(const Solution& s, int n, const Data& data) {
    const long long value = value_of(s, n, data);
    WAITING wait_for(value, data);
    return value;
}
"""
)
_DELTA = """
template <class Source>
__device__ long long changed(const Solution& s, int n, const Data& data, Source source) {
    long long change = 0;
    for (int i = 0; i < n; ++i) change += (long long)(s[source(i)] - s[i]) * data.weights[i];
    wait_for(change, data);
    return change;
}
__device__ long long delta(const Solution& s, int n, const Data& data, Swap move) {
    return changed(s, n, data,
                   [&](int i) { return i == move.u ? move.v : i == move.v ? move.u : i; });
}
__device__ long long delta(const Solution& s, int n, const Data& data, Reversal move) {
    return changed(s, n, data,
                   [&](int i) { return i < move.u || i > move.v ? i : move.source(i); });
}
__device__ long long delta(const Solution& s, int n, const Data& data, Insertion move) {
    return changed(s, n, data,
                   [&](int i) { return i < move.u || i > move.v ? i : move.source(i); });
}
"""
_REPAIR = """
template <class Changing>
__device__ void repair(Changing& s, int n, const Data& data) {
    wait_for(0, data);
}
"""


def weights_of(n: int) -> NDArray[np.int32]:
    return np.random.default_rng(5).integers(-9, 10, n).astype(np.int32)


def slow(
    kind: str,
    by: str,
    seconds: float,
    n: int = 12,
    *,
    share: int = 1,
    quick: int = 0,
    real: bool = False,
) -> Model:
    """Return a problem of which one in `share` evaluations takes `seconds`.

    The first `quick` evaluations of a program on a CPU take no time; a program that is used again
    goes on counting. With `delta`, only changes of costs are slow.
    """
    weights, scale = weights_of(n), 1000 if kind in ("keys", "real") else 1
    micros, known = max(1, round(1e6 * seconds)), list[bool]()

    def values(solutions: NDArray[Any]) -> NDArray[Any]:
        whole = (scale * solutions.astype(np.float64)).astype(np.int64)
        found: NDArray[Any] = (whole * weights).sum(axis=1)
        return found.astype(np.float64) if real else found

    def waited(solutions: NDArray[Any]) -> NDArray[Any]:
        found = values(solutions)
        known.extend(found % share == 0)
        time.sleep(seconds * sum(known[max(quick, len(known) - len(found)) :]))
        return found

    made: dict[str, Any] = {"name": f"slow-{kind}-{by}"}
    if by == "function":
        made["function"] = lambda one: waited(one[np.newaxis])[0].item()
    elif by == "batch":
        made["batch"] = waited
    else:
        text = _COST.replace("RESULT", "double" if real else "long long")
        waiting = {"cooperative": "if (threadIdx.x == 0)", "delta": "if (false)"}.get(by, "")
        text = text.replace("WAITING", waiting)
        data = {"weights": weights, "micros": micros, "share": share, "scale": float(scale)}
        data["quick"] = quick
        made |= {"cost": text, "data": data, "reference": values}
        made |= {"cooperative": True} if by == "cooperative" else {}
        made |= {"delta": _DELTA} if by == "delta" else {}
        made |= {"repair": _REPAIR} if by == "repair" else {}
    if kind == "real":
        return islands.real(-2.0, 3.0, n, **made)
    return {"permutation": islands.permutation, "subset": islands.subset, "keys": islands.keys}[
        kind
    ](n, **made)


def written(draw: random.Random, folder: Path) -> str:
    """Write a script with a random slow problem, and return its reference `FILE.py:problem`."""
    kind = draw.choice(KINDS)
    by = draw.choice([each for each in WAYS if each != "delta" or kind == "permutation"])
    longest = LONGEST_IN_PYTHON if by in ("function", "batch") else LONGEST
    seconds = float(f"{longest * 10 ** draw.uniform(-6, 0):.1g}")
    n, share = draw.choice((6, 30, 200)), draw.choice((1, 1, 5, 97))
    real = by != "delta" and draw.random() < 0.3
    asked = f"{kind!r}, {by!r}, {seconds}, {n}, share={share}, real={real}"
    path = folder / f"slow-{kind}-{by}-{seconds:g}-{n}-{share}-{real}.py"
    lines = ["import sys", f"sys.path.insert(0, {str(Path(__file__).parent)!r})"]
    lines += ["from slow_problems import slow", f"problem = slow({asked})", ""]
    path.write_text("\n".join(lines), encoding="utf-8")
    return f"{path}:problem"
