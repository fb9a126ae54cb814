"""The CUDA of models: files of `kernels/models`."""

from __future__ import annotations

from functools import cache

from islands.modelling.texts import Text
from islands.paths import data_folder


@cache
def text_of(file: str, *before: str) -> Text:
    """Return the text of a file, with others in front of it."""
    path = data_folder("kernels") / "models" / f"{file}.cuh"
    return Text(path.name, path.read_text(encoding="utf-8"), tuple(map(text_of, before)))
