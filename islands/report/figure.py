"""Matplotlib figures; no other module imports Matplotlib, which is optional."""

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from html import escape
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from islands.errors import UsageError
from islands.paths import published
from islands.report.interactive import panels_of

WIDTH, HEIGHT = 4.8, 3.0
"""Size of a figure in inches: text stays readable on a phone, where a figure is narrower."""
COLOURS = ("#3f86c9", "#dd7127", "#3a9d5d", "#cc4f7d", "#8b70d4", "#a08020", "#2ba3a3", "#9c6b5a")
"""Colours of curves, visible on a light and on a dark page."""
FORMS = ("png", "svg")
_NEAR, _DECADES = 10.0, 100.0
"""Ratios of the largest to the smallest value of a logarithmic axis: below the first one, labels
have equal distances; from the second one on, they are powers of ten."""
_INK, _GRID = "#1a1b1d", "#d3d4d6"
"""Colours that a page replaces with its theme."""
_RASTER_DPI = 160
_STYLE: Mapping[str, Any] = {
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor"), _INK),
    **dict.fromkeys(("xtick.color", "ytick.color"), _INK),
    "text.usetex": False,  # a matplotlibrc in the current folder could contain TeX commands
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.useoffset": False,
    "figure.constrained_layout.h_pad": 0.09,  # inches: lines of a browser are higher
    "figure.dpi": _RASTER_DPI,
    "font.size": 8.5,
    "font.family": "DejaVu Sans",
    "grid.color": _GRID,
    "grid.linewidth": 0.5,
    "image.interpolation": "nearest",
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "lines.linewidth": 1.1,
    "path.simplify": True,
    "path.simplify_threshold": 0.5,
    "svg.fonttype": "none",
}
# Matplotlib numbers the parts of a figure; nothing refers to these names.
_UNUSED_NAME = re.compile(r' id="([A-Za-z.0-9]+_\d+|image[0-9a-f]+)"')
_by_pyplot = ContextVar("by_pyplot", default=False)
_DECLARATIONS = re.compile(r"<\?xml.*?<svg", re.DOTALL)
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)


@contextmanager
def needed(module: str = "matplotlib") -> Iterator[None]:
    """Turn an ImportError inside the block into an error that names the extra to install."""
    try:
        yield
    except ImportError as error:
        raise UsageError(
            f"reports and plots need {module}, which is not installed. Install it with:"
            " pip install 'islands[report]'"
        ) from error


def style(salt: str = "islands") -> Any:
    """Return the context in which figures are created; raise an error without Matplotlib.

    The names of the parts of an SVG depend on the salt, which differs between figures of a page.
    """
    with needed():
        import matplotlib as mpl
    context: Any = mpl.rc_context
    return context({**_STYLE, "svg.hashsalt": salt})


@contextmanager
def shown() -> Iterator[None]:
    """Let new figures belong to pyplot inside the block, so that notebooks show them."""
    before = _by_pyplot.set(True)
    try:
        yield
    finally:
        _by_pyplot.reset(before)


def new_figure(width: float = WIDTH, height: float = HEIGHT) -> Any:
    """Return an empty figure of this size in inches; inside `shown`, it belongs to pyplot."""
    with needed():
        from matplotlib.figure import Figure

    if _by_pyplot.get():
        import matplotlib.pyplot as plt

        return plt.figure(figsize=(width, height), layout="constrained")
    return Figure(figsize=(width, height), layout="constrained")


def new_axes() -> Any:
    """Return the axes of a figure of pyplot, which notebooks show."""
    with needed():
        import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]


def matrices(
    panels: Mapping[str, Any], labels: tuple[str, str], height: float, **options: Any
) -> Any:
    """Return a figure with a matrix in each panel; `options` are those of `imshow`.

    A panel whose entries are all masked has no colour bar.
    """
    figure = new_figure(WIDTH, height)
    for axes, (title, matrix) in zip(figure.subplots(1, len(panels)), panels.items(), strict=True):
        shown = axes.imshow(matrix, cmap="viridis", **options)
        bar = figure.colorbar(shown, ax=axes, location="bottom", shrink=0.9)
        bar.locator = whole_ticks(3)
        bar.update_ticks()
        if not np.ma.count(matrix):
            bar.ax.set_visible(False)  # keeps its place, so that all panels have the same size
            axes.text(0.5, 0.5, "none", ha="center", va="center", transform=axes.transAxes)
        axes.set(title=title, xlabel=labels[0], ylabel=labels[1])
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(whole_ticks(5))
        axes.grid(visible=False)
    return figure


def whole_ticks(count: int) -> Any:
    """Return a locator of at most `count` ticks at whole numbers."""
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(nbins=count, integer=True, min_n_ticks=1)


def logarithmic(axis: Any, low: float, high: float) -> None:
    """Give an axis a logarithmic scale with few labels, which do not overlap."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    if high >= _DECADES * low:
        axis.set_major_locator(LogLocator(numticks=6))
    else:
        if high >= _NEAR * low:
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=9))
        else:
            # Between integers that are close, such as sizes, ticks at fractions make no sense.
            whole = high >= low + 2 and float(low).is_integer() and float(high).is_integer()
            axis.set_major_locator(MaxNLocator(4, integer=whole))
        axis.set_major_formatter(lambda value, _: plain(value))
    axis.set_minor_formatter(NullFormatter())


def doubling(axis: Any) -> None:
    """Give an axis a logarithmic scale with labels at powers of two."""
    from matplotlib.ticker import LogLocator, NullLocator

    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_major_locator(LogLocator(base=2))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda value, _: plain(value))


def plain(value: float) -> str:
    """Return a number with at least three digits, and never with an exponent."""
    if abs(value) >= 100 or value % 1 == 0:
        return f"{value:.0f}"
    places = 2 - math.floor(math.log10(abs(value)))
    return f"{value:.{places}f}".rstrip("0").rstrip(".")


def logarithmic_from(axis: Any, low: float, high: float) -> None:
    """Give an axis a scale that is linear from 0 to a power of ten, then logarithmic."""
    first = 10.0 ** math.floor(math.log10(low))
    # The labels of 0 and of the power do not overlap, even with many decades.
    share = max(0.4, 0.15 * math.log10(high / first))
    scaled = axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale
    scaled("symlog", linthresh=first, linscale=share)


def save(figure: Any, path: Path, form: str) -> None:
    """Write a figure as PNG or SVG, with a white background."""
    metadata = {"Date": None} if form == "svg" else {}
    with published(path) as temporary, temporary.open("wb") as stream, style():
        options = {"dpi": _RASTER_DPI, "facecolor": "white", "metadata": metadata}
        figure.savefig(stream, format=form, **options)


def inline(figure: Any, words: str) -> str:
    """Return a figure as SVG with the size and the colours of its page; `words` describe it."""
    stream = StringIO()
    with style(salt=words):
        from matplotlib.colors import to_hex

        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
        # The values of its curves, which the page shows at the pointer.
        panels = panels_of(figure, lambda colour: to_hex(colour, keep_alpha=True))
    text = _DECLARATIONS.sub("<svg", stream.getvalue(), count=1)
    text = _UNUSED_NAME.sub("", _METADATA.sub("", text, count=1))
    text = text.replace(_INK, "currentColor").replace(_GRID, "var(--grid)")
    head, end, rest = text.partition(">")
    head = re.sub(r' (width|height)="[^"]*"', "", head)  # the page determines the size
    values = f' data-panels="{escape(panels)}"' if panels else ""
    described = f'<svg role="img" aria-label="{escape(words)}"{values}'
    return f"{head.replace('<svg', described, 1)}{end}{rest}"
