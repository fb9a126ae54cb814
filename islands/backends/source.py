"""The source of a program: an entry file, macros that choose its parts, and included files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from islands.backends.arguments import Struct, layout_checks
from islands.backends.header import Header
from islands.errors import CompileError
from islands.paths import data_folder

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+("[^"\n]+"|[A-Za-z_]\w*)', re.MULTILINE)

Macros = dict[str, str | Header]
"""The macros of a program; if the value is a header, programs include the macro."""


@dataclass(frozen=True)
class Source:
    """A program before compilation; `defines` are the macros of its parts."""

    entry: str
    defines: Mapping[str, str | Header] = field(default_factory=dict)
    structs: Mapping[str, Struct] = field(default_factory=dict)
    """The structs that Python passes to its kernels, by their names there: the compiler compares
    their members, but not the values."""

    def text(self, digest: str, kind: str) -> str:
        """Return the text for the compiler, which includes `own` and the kernels' folder.

        A variable with the qualifiers `kind`, which the compiler must keep, contains the digest.
        """
        checks = layout_checks(self.structs)
        return f'#include "{self.entry}"\n{checks}{kind} char islands_digest[] = "{digest}";\n'

    def options(self) -> list[str]:
        """Return the options that are the same for both compilers."""
        macros = [f"-D{name}={value}" for name, value in sorted(self.defines.items())]
        return [f"-I{data_folder('kernels')}", *macros]

    def own(self) -> dict[str, str]:
        """Return the texts of the headers with their own text, by name."""
        headers = (value for value in self.defines.values() if isinstance(value, Header))
        return {header.name: header.text for header in headers if header.text is not None}

    def digest(self, *also: str) -> str:
        """Return the SHA-256 of the macros, all included files, the structs, and `also`."""
        parts = [f"{name}={value}" for name, value in sorted(self.defines.items())]
        parts += [*self._texts().values(), layout_checks(self.structs)]
        return hashlib.sha256("\0".join([*parts, *also]).encode()).hexdigest()

    def files(self) -> list[str]:
        """Return the names of all included files, in the order of their first inclusion."""
        return list(self._texts())

    def _texts(self) -> dict[str, str]:
        """Return the texts of all included files, by name."""
        own, found, waiting = self.own(), dict[str, str](), [("", self.entry)]
        while waiting:
            by, name = waiting.pop(0)
            if name not in found:
                found[name] = own[name] if name in own else _read(name, by)
                waiting += [(name, other) for other in self._included(found[name])]
        return found

    def _included(self, text: str) -> Iterator[str]:
        for match in _INCLUDE.finditer(text):
            quoted = match[1] if match[1].startswith('"') else str(self.defines.get(match[1], ""))
            if quoted:
                yield quoted.strip('"')


def _read(name: str, by: str) -> str:
    """Return the text of a file of the package that `by` includes."""
    path = data_folder("kernels") / name
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise CompileError(
            f'{by or "a program"}: includes "{name}", but cannot read the kernel file {path}:'
            f" {error.strerror}. A header of a script can only include headers of"
            f" {data_folder('kernels')}"
        ) from None
