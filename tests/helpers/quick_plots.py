"""Plots of experiments that take no time, for tests that look only at rows and results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from islands.reproduce import perform


@contextmanager
def without_drawing() -> Iterator[None]:
    """Write empty pictures in this process: to draw them takes longer than a short experiment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(perform, "write_plot", _write_empty)
        yield


def _write_empty(path: Path, *_: Any) -> None:
    path.write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
