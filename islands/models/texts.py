"""The CUDA of models: files of `kernels/models`, and constants of an instance before them."""

from __future__ import annotations

from functools import cache

from islands.paths import data_folder


def text_of(*files: str, **constants: int | bool) -> str:
    """Return the content of files, one after another, in which these constants are known.

    Compilers know them, too: the size of an array may be one.
    """
    declared = [_declared(name, value) for name, value in constants.items()]
    return "".join([*declared, *map(_read, files)])


def _declared(name: str, value: int | bool) -> str:
    if isinstance(value, bool):
        return f"constexpr bool {name} = {str(value).lower()};\n"
    return f"constexpr int {name} = {value};\n"


@cache
def _read(file: str) -> str:
    return (data_folder("kernels") / "models" / f"{file}.cuh").read_text(encoding="utf-8")
