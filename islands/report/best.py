"""Draw the course of the best cost of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from islands.report.figure import new_axes, style

if TYPE_CHECKING:
    import pyarrow as pa


def draw_best(trace: pa.Table, *, maximise: bool, title: str, axes: Any = None) -> Any:
    """Draw the best cost of all islands against the generation; return the axes."""
    with style():
        axes = new_axes() if axes is None else axes
    known = trace.filter(trace["best"].is_valid())
    best = known["best"].to_numpy()
    generations, first = np.unique(known["generation"].to_numpy(), return_index=True)
    if best.size:
        better = np.maximum if maximise else np.minimum
        best = better.accumulate(better.reduceat(best, first))
    axes.step(generations, best, where="post")
    axes.set(xlabel="generation", ylabel="best profit" if maximise else "best cost", title=title)
    axes.grid(visible=True, alpha=0.3)
    return axes
