"""Pictures that take no time, for tests that look at something else."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from io import StringIO
from typing import IO, Any

import pytest

from islands.studies.papers import perform

_EMPTY = '<svg xmlns="http://www.w3.org/2000/svg"/>'


@contextmanager
def without_rendering() -> Iterator[None]:
    """Make empty files of all pictures in this process: to render one takes half a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(perform, "write_plot", lambda path, *_: path.write_text(_EMPTY))
        if find_spec("matplotlib") is not None:  # otherwise, what needs it says so
            patch.setattr("matplotlib.figure.Figure.savefig", _render_nothing)
        yield


def _render_nothing(_: Any, stream: IO[Any], **options: Any) -> None:
    stream.write(_EMPTY if isinstance(stream, StringIO) else _EMPTY.encode())
