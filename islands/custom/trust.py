"""Which scripts may run: those named by the user, or by a file that the user has signed.

A configuration, a list or the folder of a run may come from somebody else, and importing a script
runs it. `scripts.module_of` therefore rejects all scripts that were not trusted by these functions.
Files that this program writes for a user are signed: see `signature.py`.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import IO, Any, ParamSpec, TypeVar

from islands.custom.scripts import Trust, active, is_reference, require_trusted, split_reference
from islands.custom.signature import is_signed
from islands.errors import InputError, UntrustedError
from islands.inside import opened
from islands.paths import expanded, reading
from islands.untrusted import bounded_text, parse_toml

_P = ParamSpec("_P")
_R = TypeVar("_R")


_of_thread = ContextVar[Trust | None]("_of_thread", default=None)
"""The trust of the command or call that runs in this thread."""


def current() -> Trust:
    """Return the trust of the command or call in progress."""
    return _of_thread.get() or active[-1]


def trust_files(files: Iterable[Path]) -> None:
    """Let the code in these files run, until the command or call ends."""
    current().files.update(files)


def trust_named(*values: Any) -> None:
    """Trust the scripts in settings that come from the user, on the command line or in Python."""
    trust_files(scripts_in(values))


def trust_typed(names: Iterable[str], *, is_all: bool = False) -> None:
    """Trust the scripts among the arguments of a command line; with `--trust`, all scripts.

    The name of an existing file or folder is not trusted: whoever sent it may have chosen the name.
    """
    current().is_all |= is_all
    for name in names:
        if not (".py:" in name and os.path.lexists(expanded(name))):
            with suppress(InputError):  # rejected later, when it is read
                trust_files(scripts_in(name))


def trusts_all() -> bool:
    """Return whether any script may run, as with `--trust`."""
    return any(trust.is_all for trust in active)


@contextmanager
def command(names: Iterable[str], *, is_all: bool = False) -> Iterator[None]:
    """Within the block, trust only the arguments of a command line, as in `trust_typed`."""
    before, active[:] = active[:], []
    try:
        with within(Trust()):
            trust_typed(names, is_all=is_all)
            yield
    finally:
        active[:] = before


@contextmanager
def lasting(trust: Trust) -> Iterator[None]:
    """Within the block, let the scripts of this trust run as well."""
    active.append(trust)
    try:
        yield
    finally:
        with suppress(ValueError):  # if a generator ends inside a `command`
            active.remove(trust)


@contextmanager
def within(trust: Trust) -> Iterator[None]:
    """Do the same as `lasting`, and add to `trust` what this thread trusts within the block."""
    before = _of_thread.set(trust)
    try:
        with lasting(trust):
            yield
    finally:
        _of_thread.reset(before)


def trusting(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorate a function so that trust that is added during a call ends with the call."""

    @wraps(function)
    def called(*args: _P.args, **named: _P.kwargs) -> _R:
        with within(Trust()):
            return function(*args, **named)

    return called


def signed_scripts(
    path: Path | None,
    opens: Callable[[Path], IO[bytes]] = opened,
    *,
    by_user: bool = False,
) -> frozenset[Path]:
    """Return the scripts that a TOML file names, if it is signed or trusted `by_user`.

    `opens` is passed to `bounded_text`. A pipe is not read, because that would empty it.
    """
    if path is None:
        return frozenset()
    with reading(path):
        if not path.is_file():
            return frozenset()
    text = bounded_text(path, opens=opens)
    return scripts_in(parse_toml(text, path)) if by_user or is_signed(text) else frozenset()


@contextmanager
def named_by(source: str) -> Iterator[None]:
    """Prefix errors about scripts with the source that names them, such as `run.toml: `."""
    try:
        yield
    except UntrustedError as error:
        raise UntrustedError(f"{source}{error}") from None


def require_all(names: Iterable[str], source: str) -> None:
    """Reject instances in untrusted scripts now, as `module_of` would do later."""
    for name in filter(is_reference, names):
        with named_by(source):
            require_trusted(split_reference(name)[0], name)


def references(values: Any) -> Iterator[str]:
    """Yield each `FILE.py:NAME` in nested settings."""
    if isinstance(values, Mapping):
        values = [*values.values()]
    if is_reference(values):
        yield values
    elif isinstance(values, list | tuple):
        for value in values:
            yield from references(value)


def scripts_in(values: Any) -> frozenset[Path]:
    """Return the files of the scripts in nested settings."""
    return frozenset(split_reference(reference)[0] for reference in references(values))
