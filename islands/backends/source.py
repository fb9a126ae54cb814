"""The text of a program: an entry file, macros that choose its parts, and all that it includes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from islands.backends.header import Header
from islands.errors import CompileError
from islands.paths import data_folder

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+("[^"\n]+"|[A-Za-z_]\w*)', re.MULTILINE)

Macros = dict[str, str | Header]
"""What a program is compiled with; where the value is a header, the macro includes it."""


@dataclass(frozen=True)
class Source:
    """A program before it is compiled; `defines` name its parts and their constants."""

    entry: str
    defines: Mapping[str, str | Header] = field(default_factory=dict)

    def text(self, digest: str, kind: str) -> str:
        """Return what a compiler is given; it finds the rest in `own` and in the kernels' folder.

        A variable of some kind, which the compiler must not leave out, holds the digest.
        """
        return f'#include "{self.entry}"\n{kind} char islands_digest[] = "{digest}";\n'

    def options(self) -> list[str]:
        """Return the options that both compilers understand."""
        macros = [f"-D{name}={value}" for name, value in sorted(self.defines.items())]
        return [f"-I{data_folder('kernels')}", *macros]

    def own(self) -> dict[str, str]:
        """Return the texts, by name, of the headers that bring their own."""
        headers = (value for value in self.defines.values() if isinstance(value, Header))
        return {header.name: header.text for header in headers if header.text is not None}

    def digest(self, *also: str) -> str:
        """Return the SHA-256 of the macros, of all files that are included, and of `also`."""
        parts = [f"{name}={value}" for name, value in sorted(self.defines.items())]
        parts += self._texts().values()
        return hashlib.sha256("\0".join([*parts, *also]).encode()).hexdigest()

    def files(self) -> list[str]:
        """Return the names of all files that are included, in the order in which they are met."""
        return list(self._texts())

    def _texts(self) -> dict[str, str]:
        """Return the closure of includes, each file once."""
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
    """Return the text of a file of the package, which `by` includes."""
    path = data_folder("kernels") / name
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise CompileError(
            f'{by or "a program"}: includes "{name}", but cannot read the kernel file {path}:'
            f" {error.strerror}. A header of a script includes headers of {data_folder('kernels')},"
            " and holds all else itself"
        ) from None
