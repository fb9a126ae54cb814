"""The source of a program: an entry file, macros that choose its parts, and included files.

Compiler errors are translated to lines of the user's code.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from islands.backends import messages
from islands.backends.arguments import Struct, layout_checks
from islands.errors import CompileError, UsageError
from islands.paths import CACHE_ELSEWHERE, cache_folder, data_folder, publish, reading

_NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)*")


class Header:
    """A header that a program includes by name; without a text, it is a file of `kernels`.

    >>> str(islands.Header("algorithms/ga.cuh"))
    '"algorithms/ga.cuh"'
    """

    def __init__(self, name: str, text: str | Path | None = None) -> None:
        """Take the text, or the path of a file that contains it."""
        if text is not None and _NAME.fullmatch(name) is None:
            raise UsageError(
                f"Header({name!r}): a name consists of letters, digits and _ . - /, such as"
                " 'spread.cuh'. Compilers show it in their errors"
            )
        if isinstance(text, Path):
            with reading(text):
                text = text.read_text(encoding="utf-8")
        self.name, self.text = name, text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Header) and (self.name, self.text) == (other.name, other.text)

    def __hash__(self) -> int:
        return hash((self.name, self.text))

    def __repr__(self) -> str:
        return f"Header({self.name!r}{'' if self.text is None else f', {self.text!r}'})"

    def __str__(self) -> str:
        """Return the name in quotes, as in an `#include`."""
        return f'"{self.name}"'


_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+("[^"\n]+"|[A-Za-z_]\w*)', re.MULTILINE)

_WITH, _WITHOUT = "WITH_KERNEL", "WITHOUT_KERNEL"
"""Macros of kernels/core/compiler.cuh."""

Macros = dict[str, str | Header]
"""The macros of a program; those whose value is a header are included."""


@dataclass(frozen=True)
class Source:
    """A program before compilation; `defines` are the macros that choose its parts."""

    entry: str
    defines: Mapping[str, str | Header] = field(default_factory=dict)
    structs: Mapping[str, Struct] = field(default_factory=dict)
    """The structs that Python passes to its kernels, by name; the compiler checks their
    members."""
    apart: tuple[str, ...] = ()
    """Kernels that are slow to compile, slowest first: `pieces` distributes them."""

    is_waited_for: bool = False
    """Whether fast compilation matters more than fast kernels."""

    def pieces(self, most: int) -> list[Source]:
        """Return up to `most` programs, which can be compiled at the same time.

        The kernels of `apart` are distributed over them; the last also has all other kernels. A
        program that contains generated headers is not divided, as these may define variables.
        """
        count = 1 if self.headers() else min(most, len(self.apart) + 1)
        return [self._piece(self.apart[turn::count], turn == count - 1) for turn in range(count)]

    def _piece(self, named: Sequence[str], has_others: bool) -> Source:
        if has_others and len(named) == len(self.apart):
            return replace(self, apart=())
        chosen = {f"ISLANDS_HAS_{name}": f",{_WITHOUT}" for name in self.apart if has_others}
        chosen |= {f"ISLANDS_HAS_{name}": f",{_WITH}" for name in named}
        if not has_others:
            chosen["ISLANDS_OTHERS"] = _WITHOUT
        return replace(self, defines={**self.defines, **chosen}, apart=())

    def text(self, digest: str, kind: str) -> str:
        """Return the text for the compiler.

        It contains the digest in a variable, with the qualifiers `kind` so that compilers keep it.
        """
        checks = layout_checks(self.structs)
        return f'#include "{self.entry}"\n{checks}{kind} char islands_digest[] = "{digest}";\n'

    def options(self) -> list[str]:
        """Return the options that are the same for all compilers."""
        macros = [f"-D{name}={value}" for name, value in sorted(self.defines.items())]
        return [f"-I{data_folder('kernels')}", *macros]

    def headers(self) -> dict[str, str]:
        """Return the headers that are not files of the package: their texts by name."""
        headers = (value for value in self.defines.values() if isinstance(value, Header))
        return {header.name: header.text for header in headers if header.text is not None}

    def key(self) -> Hashable:
        """Return a key that identifies this source within the process."""
        macros = tuple(sorted(self.defines.items()))
        return self.entry, macros, layout_checks(self.structs), self.is_waited_for

    def digest(self, *also: str) -> str:
        """Return the SHA-256 of the macros, all included files, the structs, and `also`."""
        parts = [f"{name}={value}" for name, value in sorted(self.defines.items())]
        parts += [*self._texts().values(), layout_checks(self.structs)]
        return hashlib.sha256("\0".join([*parts, *also]).encode()).hexdigest()

    def size(self) -> int:
        """Return the number of characters of all included files."""
        return sum(map(len, self._texts().values()))

    def files(self) -> list[str]:
        """Return the names of all included files, in the order of their first inclusion."""
        return list(self._texts())

    def _texts(self) -> dict[str, str]:
        """Return the texts of all included files, by name."""
        headers, texts, waiting = self.headers(), dict[str, str](), [("", self.entry)]
        while waiting:
            by, name = waiting.pop(0)
            if name not in texts:
                texts[name] = headers[name] if name in headers else _read(name, by)
                waiting += [(name, other) for other in self._included(texts[name])]
        return texts

    def _included(self, text: str) -> Iterator[str]:
        for named in _inclusions(text):
            quoted = named if named.startswith('"') else str(self.defines.get(named, ""))
            if quoted:
                yield quoted.strip('"')


@lru_cache(maxsize=1024)
def _inclusions(text: str) -> tuple[str, ...]:
    """Return the arguments of all `#include` in a text: names in quotes, and macros."""
    return tuple(match[1] for match in _INCLUDE.finditer(text))


def _read(name: str, by: str) -> str:
    """Return the text of a file of the package that `by` includes."""
    folder = data_folder("kernels")
    path = folder / name
    try:
        status = path.stat()
        return _text_of(path, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise messages.unreadable_kernel(by, name, folder, error) from None


@lru_cache(maxsize=1024)
def _text_of(path: Path, changed: int, size: int) -> str:
    """Return the text of a file; `changed` and `size` are only keys of the cache."""
    return path.read_text(encoding="utf-8")


CONTRACT = "// contract: "
"""Prefix of a comment before a `#line` in a header, which states what the code must define."""

WHOLE = "WholeCost"
"""Replaces `long long` in functions of users; it has the same length: see
kernels/problems/whole.cuh."""

_LINE = re.compile(rf'(?:^{CONTRACT}([^\n]*)\n)?^#line 1 "([^"\n]+)"\n', re.MULTILINE)
# `cost.cu:3:5: error: ...` of C++ compilers, `cost.cu(3): error: ...` of NVRTC.
_PLACE = re.compile(r"^(\S+?)[:(](\d+)")


def rejected(compiler: str, digest: str, log: str, headers: Mapping[str, str]) -> CompileError:
    """Return the error for a program that does not compile: its first error and the full log.

    Errors in `headers`, which come from scripts, precede errors in headers that include them. If
    a header contains code under another name (`#line`), the line and its contract are shown.
    """
    path = cache_folder("programs") / f"{digest}.log"
    publish(path, log, CACHE_ELSEWHERE)
    lines = [line for line in log.splitlines() if line.strip()]
    errors = [line.strip() for line in lines if re.search(r"\berror\b", line)] or lines[:1]
    places = [place for text in headers.values() for place in _LINE.findall(text)]
    codes = {name: contract for contract, name in reversed(places)}
    starts = tuple(f"{name}{mark}" for name in (*headers, *codes) for mark in ":(")
    first = next((line for line in errors if line.startswith(starts)), "")
    if not first:
        first = "".join(errors[:1])
        if headers and not codes:
            names = ", ".join(headers)
            first += f"; check that {names} defines everything that built-in headers define"
        elif cause := _cause(log, codes, headers):
            first += f"; the cause is {cause}"
    elif shown := _shown(first, headers):
        first += f"; this line is {shown!r}"
    place = _PLACE.match(first)
    contract = codes.get(place[1] if place is not None else "", next(iter(codes.values()), ""))
    if contract:
        first += f"; the code must define {contract}"
    return CompileError(f"{compiler} rejected a kernel: {first} (full log: {path})")


def crash_place(headers: Mapping[str, str]) -> str:
    """Return the message for a crash: the code of scripts in the program, if any, and the fix."""
    codes = {name for text in headers.values() for _, name in _LINE.findall(text)}
    fix = (
        "Find the line with: islands check FILE.py:NAME, or islands.check_problem(problem)"
        if codes
        else "Compile it with a sanitizer: CXX='g++ -fsanitize=undefined,bounds -g'"
    )
    return f", in {', '.join(sorted(codes or headers))}. {fix}\n" if headers else ""


def _cause(log: str, names: Iterable[str], headers: Mapping[str, str]) -> str:
    """Return the first line of the user's code that the log names, with its place."""
    for name in names:
        for pattern in (rf"^{re.escape(name)}[:(](\d+)", rf"at line (\d+) of {re.escape(name)}"):
            if place := re.search(pattern, log, re.MULTILINE):
                lines = (user_line(text, name, int(place[1])) for text in headers.values())
                return next(filter(None, lines), "")
    return ""


def user_line(text: str, name: str, number: int) -> str | None:
    """Return a line of the user's code in a header, with its place; None if it is not there."""
    line = _line_of(text, name, number)
    return None if line is None else f"{name}, line {number}, {line!r}"


def _line_of(text: str, name: str, number: int) -> str | None:
    for match in _LINE.finditer(text):
        following = text[match.end() :].splitlines()
        if match[2] == name and 1 <= number <= len(following):
            return following[number - 1].strip().replace(WHOLE, "long long")
    return None


def _shown(error: str, headers: Mapping[str, str]) -> str:
    """Return the text of the line that an error names, if it is known."""
    place = _PLACE.match(error)
    if place is None:
        return ""
    name, number = place[1], int(place[2])
    for text in headers.values():
        if (line := _line_of(text, name, number)) is not None:
            return line
    lines = headers.get(name, "").splitlines()
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""
