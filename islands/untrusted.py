"""Read files that may be damaged: limit memory, and report all faults as `InputError`."""

import hashlib
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from types import UnionType
from typing import IO, Any, TypeVar, get_args, get_type_hints

from islands.errors import InputError, IslandsError
from islands.inside import opened
from islands.paths import reading

MISMATCH = "checksum mismatch: it was changed, or damaged, after it was written"
"""The message about a well-formed file whose content was changed."""
_Value = TypeVar("_Value")
_MOST_DOTS = 1000
_LONGEST_REASON = 200
"""Maximum length of a parser's message, which may quote the damaged file."""


def followed(path: Path) -> IO[bytes]:
    """Open a file that the user has named, following links."""
    return path.open("rb")


@contextmanager
def parsing(
    path: Path | str, fault: str = "is damaged or cut off", fix: str = ""
) -> Iterator[None]:
    """Turn any exception inside the block into an `InputError` that names `path` and the fix.

    Parsers raise more kinds of exceptions on damaged files than they document.
    """
    try:
        yield
    except IslandsError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            with reading(path):
                raise
        reason = " ".join(str(error).split())[:_LONGEST_REASON].rstrip(".") or type(error).__name__
        message = f"{fault} ({reason}). {fix}" if fix else f"{fault}: {reason}"
        raise InputError(f"{path}: {message}") from error


def bounded_text(
    path: Path,
    longest: int = 1 << 20,
    opens: Callable[[Path], IO[bytes]] = opened,
    errors: str = "strict",
) -> str:
    """Return the text of a file; reject a file with more than `longest` bytes.

    `opens` is `followed` for a file that the user has named, which may be a link or a pipe.
    `errors` determines how to decode bytes that are not UTF-8, as in `bytes.decode`.
    """
    with reading(path), opens(path) as stream:
        raw = stream.read(longest + 1)
    if len(raw) > longest:
        raise InputError(
            f"{path}: has more than {longest} bytes, the limit for such a file. Specify another"
            " file, or restore this one"
        )
    with parsing(path, "is not UTF-8"):
        return raw.decode(errors=errors)


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file inside a folder."""
    return parse_toml(bounded_text(path), path)


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    """Parse the text of a TOML file; errors name `path`."""
    # The time and memory of the parser are quadratic in the number of parts of a key.
    if max(line.count(".") for line in text.split("\n")) > _MOST_DOTS:
        raise InputError(f"{path}: not TOML: a line with more than {_MOST_DOTS} dots. Correct it")
    with parsing(path, "not TOML"):
        return tomllib.loads(text.removeprefix("\ufeff"))  # the byte order mark of some editors


def content_digest(values: Mapping[str, Any]) -> str:
    """Return the SHA-256 digest of values that JSON can represent."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def typed(kind: type[_Value], values: Mapping[str, Any], **others: Any) -> _Value:
    """Return a dataclass from JSON `values`, whose types are checked, and from `others`.

    Raise a `ValueError` for a value of another type.
    """
    hints = get_type_hints(kind)
    for field in fields(kind):  # type: ignore[arg-type]
        if field.name not in others and not _is_of(values[field.name], hints[field.name]):
            raise ValueError(f"{field.name} is {values[field.name]!r}")
    return kind(**{**values, **others})


def _is_of(value: Any, hint: Any) -> bool:
    if isinstance(hint, UnionType):
        return any(_is_of(value, member) for member in get_args(hint))
    # In Python, bool is a subclass of int; JSON may write 1.0 as 1.
    return type(value) is hint or (hint is float and type(value) is int)
