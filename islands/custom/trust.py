"""Which scripts a run may use: those that the user names, or that a file signed by the user names.

A configuration file and the folder of a run may come from somebody else, and importing a script
runs it. What this program writes for a user is signed with a key of this user on this machine.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any, Self

from islands.backends.cache import own_folder
from islands.custom.scripts import is_reference, split_reference
from islands.errors import InputError
from islands.inside import opened
from islands.paths import reading, writing
from islands.text import option
from islands.untrusted import bounded_text, parse_toml

_LINE = "# Signed by the user who wrote the lines above, on the same machine: "
_TEXT = b"text\n"
"""The first bytes of what is signed, so that no text has the signature of a problem."""


class UntrustedError(InputError):
    """A file names or contains code that somebody else may have written."""


@dataclass(frozen=True)
class Trust:
    """The scripts that may be run if a file names them."""

    files: frozenset[Path] = frozenset()
    is_full: bool = False
    """Whether any script may be run, as by `--trust`."""

    def naming(self, *values: Any) -> Self:
        """Also trust the scripts that these settings name, which the user has stated."""
        return replace(self, files=self.files | {file for file, _ in _references(values)})

    def signed_in(self, path: Path | None, opens: Callable[[Path], IO[bytes]] = opened) -> Self:
        """Also trust the scripts that a file names, if it is signed; `opens` as in `bounded_text`.

        A pipe is left for its reader.
        """
        if path is None:
            return self
        with reading(path):
            is_file = path.is_file()
        return self.of_text(bounded_text(path, opens=opens), path) if is_file else self

    def of_text(self, text: str, path: Path) -> Self:
        """Also trust the scripts that the text of a TOML file names, if it is signed."""
        return self.naming(parse_toml(text, path)) if is_signed(text) else self

    def require(self, source: str, named: Iterable[tuple[str, Any]]) -> None:
        """Refuse scripts that are not trusted: those among pairs of a setting and its value.

        `source` is the file that names them, as the beginning of an error.
        """
        if self.is_full:
            return
        pairs = [(what, each) for what, value in named for each in _references(value)]
        refused = [(what, f"{a}:{b}") for what, (a, b) in pairs if a not in self.files]
        if refused:
            words = dict.fromkeys(f"{reference} ({what})" for what, reference in refused)
            raise UntrustedError(
                f"{source}names scripts that you have not named, which would be run:"
                f" {', '.join(words)}. You have not written this file on this machine, or it was"
                f" changed since. Read the scripts; if you trust them, add {option('trust', True)},"
                " or name them too"
            )


NO_TRUST = Trust()
"""The trust in files of which nothing is known."""
FULL_TRUST = Trust(is_full=True)
"""The trust in what the user has stated."""


def references(values: Any) -> Iterator[str]:
    """Yield each `FILE.py:NAME` in nested settings."""
    if isinstance(values, Mapping):
        values = [*values.values()]
    if is_reference(values):
        yield values
    elif isinstance(values, list | tuple):
        for each in values:
            yield from references(each)


def _references(values: Any) -> Iterator[tuple[Path, str]]:
    return map(split_reference, references(values))


def signed(text: str) -> str:
    """Return a text with the signature of this user on this machine as its last line."""
    return f"{text}{_LINE}{_signature(text)}\n"


def is_signed(text: str) -> bool:
    """Return whether this user has signed a text, which may only have comments added to it."""
    lines, found, rest = text.rpartition(_LINE)
    signature, *others = rest.split("\n")
    if not found or any(each and not each.startswith("#") for each in others):
        return False
    return hmac.compare_digest(signature.encode(), _signature(lines).encode())


def _signature(text: str) -> str:
    return sign(_TEXT + text.encode()).hex()


def sign(content: bytes) -> bytes:
    """Return what only this user on this machine can compute for this content."""
    return hmac.digest(_key(), content, "sha256")


def _key() -> bytes:
    """Return the secret of this user on this machine, which is made when it is first used."""
    path = own_folder("keys") / "problems"
    if not path.exists():
        # A link appears with its whole content, and only the first of several processes makes it.
        with writing(path), NamedTemporaryFile(dir=path.parent) as temporary:
            temporary.write(secrets.token_bytes(32))
            temporary.flush()
            with suppress(FileExistsError):
                os.link(temporary.name, path)
    return path.read_bytes()
