"""The text of a program: an entry file, macros that choose its parts, and all that it includes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from islands.errors import CompileError
from islands.paths import data_folder

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+("[^"\n]+"|[A-Za-z_]\w*)', re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """A program before it is compiled; `defines` name its parts and their constants."""

    entry: str
    defines: dict[str, str] = field(default_factory=dict)

    def text(self, digest: str, kind: str) -> str:
        """Return what a compiler is given; the rest it finds in the kernels' folder.

        A variable of some kind, which the compiler must not leave out, holds the digest.
        """
        return f'#include "{self.entry}"\n{kind} char islands_digest[] = "{digest}";\n'

    def options(self) -> list[str]:
        """Return the options that both compilers understand."""
        macros = [f"-D{name}={value}" for name, value in sorted(self.defines.items())]
        return [f"-I{data_folder('kernels')}", *macros]

    def digest(self, *also: str) -> str:
        """Return the SHA-256 of the macros, of all files that are included, and of `also`."""
        parts = [f"{name}={value}" for name, value in sorted(self.defines.items())]
        parts += [path.read_text(encoding="utf-8") for path in self.files()]
        return hashlib.sha256("\0".join([*parts, *also]).encode()).hexdigest()

    def files(self) -> list[Path]:
        """Return the closure of includes, each file once, in the order in which it is first met."""
        found: dict[Path, None] = {}
        waiting = [data_folder("kernels") / self.entry]
        while waiting:
            path = waiting.pop(0)
            if path not in found:
                found[path] = None
                waiting += self._included(path)
        return list(found)

    def _included(self, path: Path) -> Iterator[Path]:
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise CompileError(f"cannot read the kernel file {path}: {error.strerror}") from None
        for match in _INCLUDE.finditer(text):
            name = match[1] if match[1].startswith('"') else self.defines.get(match[1], "")
            if name:
                yield data_folder("kernels") / name.strip('"')
