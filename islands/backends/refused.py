"""Errors for programs that do not compile, with the line of the user's code, or do not fit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from islands.errors import CompileError, UsageError
from islands.paths import CACHE_ELSEWHERE, cache_folder, published

CONTRACT = "// contract: "
"""Begins a comment of a header, before a `#line`: what the code after it must define."""

_LINE = re.compile(rf'(?:^{CONTRACT}([^\n]*)\n)?^#line 1 "([^"\n]+)"\n', re.MULTILINE)
# `cost.cu:3:5: error: ...` of C++ compilers, `cost.cu(3): error: ...` of NVRTC.
_PLACE = re.compile(r"^(\S+?)[:(](\d+)")


def refused(compiler: str, digest: str, log: str, own: Mapping[str, str]) -> CompileError:
    """Return the error for a program that does not compile: its first error and the full log.

    An error in `own`, the headers of scripts, is preferred to one in headers that include them. If
    a header contains code of another name (`#line`), its line and its contract are shown.
    """
    path = cache_folder("programs") / f"{digest}.log"
    with published(path, CACHE_ELSEWHERE) as temporary:
        temporary.write_text(log, encoding="utf-8")
    lines = [line for line in log.splitlines() if line.strip()]
    errors = [line.strip() for line in lines if re.search(r"\berror\b", line)] or lines[:1]
    found = [each for text in own.values() for each in _LINE.findall(text)]
    codes = {name: contract for contract, name in reversed(found)}
    places = tuple(f"{name}{mark}" for name in (*own, *codes) for mark in ":(")
    first = next((line for line in errors if line.startswith(places)), "")
    if not first:
        first = "".join(errors[:1])
        if own and not codes:
            first += f"; see that {', '.join(own)} has all that built-in headers have"
        elif cause := _cause(log, codes, own):
            first += f"; the cause is {cause}"
    elif shown := _shown(first, own):
        first += f"; this line is {shown!r}"
    place = _PLACE.match(first)
    wanted = codes.get(place[1] if place is not None else "") or next(iter(codes.values()), "")
    if wanted:
        first += f"; the code must define {wanted}"
    return CompileError(f"{compiler} refused a kernel: {first} (full log: {path})")


def without_kernel(kernel: str) -> CompileError:
    """Return the error for a program that lacks a kernel."""
    return CompileError(
        f"the program has no kernel {kernel!r}. Write KERNEL({kernel}, ...) in a header, or"
        " correct the name in the launch"
    )


def without_room(kernel: str, needed: int, available: int) -> UsageError:
    """Return the error for a launch that needs more memory per block than a GPU has, in bytes."""
    return UsageError(
        f"{kernel} needs {needed} bytes of block memory, but this GPU has {available}. Choose"
        " another algorithm or a smaller instance"
    )


def _cause(log: str, names: Iterable[str], own: Mapping[str, str]) -> str:
    """Return the first line of the user's code that the log names, with its place."""
    for name in names:
        for pattern in (rf"^{re.escape(name)}[:(](\d+)", rf"at line (\d+) of {re.escape(name)}"):
            if found := re.search(pattern, log, re.MULTILINE):
                lines = (own_line(text, name, int(found[1])) for text in own.values())
                return next(filter(None, lines), "")
    return ""


def own_line(text: str, name: str, number: int) -> str | None:
    """Return a line of the user's code in a header, with its place; None if it is not there."""
    for match in _LINE.finditer(text):
        following = text[match.end() :].splitlines()
        if match[2] == name and 1 <= number <= len(following):
            return f"{name}, line {number}, {following[number - 1].strip()!r}"
    return None


def _shown(error: str, own: Mapping[str, str]) -> str:
    """Return the text of the line that an error names, if it is known."""
    place = _PLACE.match(error)
    if place is None:
        return ""
    name, number = place[1], int(place[2])
    for text in own.values():
        if line := own_line(text, name, number):
            return line.partition(f"line {number}, ")[2].strip("'\"")
    lines = own.get(name, "").splitlines()
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""
