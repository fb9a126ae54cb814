"""Read the files of OR-Library, which contain several multidimensional knapsacks each.

`mknap1` and `mknapcb1` to `mknapcb9` begin with the number of instances, which follow in Drake's
layout. `mknap2` has prose, then instances in SAC-94's layout, each after a line `problem NAME.DAT`
and a line of plus signs.
J. E. Beasley: OR-Library, distributing test problems by electronic mail. Journal of the Operational
Research Society 41, 1990.
"""

from __future__ import annotations

from pathlib import Path

from islands.errors import InputError
from islands.instances.mkp_file import MkpFile
from islands.instances.mkp_layouts import end, read_problem, read_sac94, skip_problem
from islands.instances.numbers import Numbers, is_number
from islands.text import counted, option

_MOST = 10_000


def read_orlib(numbers: Numbers, name: str, part: int | None) -> MkpFile:
    """Return instance `part` of a file, from 0; None stands for the only one."""
    first = numbers.next(2)
    if not first:
        raise numbers.error("the file is empty. Get it again")
    # Prose may also begin with a number.
    if all(map(is_number, first)):
        return _read_counted(numbers, name, part)
    return _read_titled(numbers, part)


def _read_counted(numbers: Numbers, name: str, part: int | None) -> MkpFile:
    count = numbers.whole("the number of problems", _MOST)
    chosen = _chosen(numbers.lines.path, part, count)
    for _ in range(chosen):
        skip_problem(numbers)
    file = read_problem(numbers, name if count == 1 else f"{name}-{chosen:02}")
    for _ in range(chosen + 1, count):
        skip_problem(numbers)
    end(numbers, f"the {counted(count, 'problem')}")
    return file


def _read_titled(numbers: Numbers, part: int | None) -> MkpFile:
    names: list[str] = []
    file: MkpFile | None = None
    while (line := numbers.line()) is not None:
        name = _title(line)
        if name is None:
            continue
        _skip_rule(numbers)
        problem = read_sac94(numbers, name)
        if len(names) == (part or 0):
            file = problem
        names.append(name)
    if not names:
        raise numbers.error(
            "neither a number of problems at the beginning nor a line 'problem NAME.DAT'. "
            f"Name a file of OR-Library, or name its format with {option('format')}"
        )
    _chosen(numbers.lines.path, part, len(names), names)
    assert file is not None, "the part was read"
    return file


def _title(line: list[bytes]) -> str | None:
    """Return the name in a line such as `problem WEING1.DAT`."""
    if len(line) != 2 or line[0].lower() != b"problem" or not line[1].lower().endswith(b".dat"):
        return None
    return line[1][: -len(b".dat")].decode("ascii", "replace")


def _skip_rule(numbers: Numbers) -> None:
    if all(not word.strip(b"+") for word in numbers.next()):
        numbers.line()


def _chosen(path: Path, part: int | None, count: int, names: list[str] | None = None) -> int:
    """Return the index of the requested instance."""
    if part is None and count == 1:
        return 0
    if part is None or part >= count:
        named = f" ({', '.join(names)})" if names else ""
        choice = f"{path}:00" if count == 1 else f"one of {path}:00 to {path}:{count - 1:02}{named}"
        requested = path if part is None else f"{path}:{part:02}"
        contents = counted(count, "problem")
        raise InputError(f"{requested}: the file contains {contents}. Name {choice}")
    return part
