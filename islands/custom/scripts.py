"""Load parts from users' scripts by `FILE.py:NAME`, and report errors in users' code."""

import hashlib
import linecache
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from islands.errors import InputError, IslandsError, UntrustedError, UsageError
from islands.paths import expanded, reading
from islands.text import option

_modules: dict[tuple[Path, str], ModuleType] = {}
"""The imported modules, by file and digest of the text."""
_importing: list[Path] = []


@dataclass(eq=False)
class Trust:
    """The files whose code may run during a command or a call."""

    files: set[Path] = field(default_factory=set)
    is_all: bool = False
    """Whether any code may run, as with `--trust`."""


active = [Trust()]
"""The trust of the commands and calls in progress; only islands/custom/trust.py changes it."""


def is_trusted(file: Path) -> bool:
    """Return whether the code in a file may run."""
    return any(trust.is_all or file in trust.files for trust in active)


def require_trusted(file: Path, words: str) -> None:
    """Reject a script that the user has not named; `words` describe it in the error."""
    if not is_trusted(file):
        raise UntrustedError(
            f"refers to scripts that you have not named yourself and that would be run: {words}."
            f" Read the scripts; if you trust them, add {option('trust', True)}, or specify them"
            " too"
        )


def is_reference(value: object) -> bool:
    """Return whether a value is a string of the form `FILE.py:NAME`."""
    return isinstance(value, str) and (value.endswith(".py") or ".py:" in value)


def split_reference(reference: str) -> tuple[Path, str]:
    """Return the absolute path of the file, and the name in it, which may be empty."""
    file, colon, name = reference.rpartition(".py:")
    path = expanded(f"{file}.py" if colon else reference)
    with reading(path):
        return path.resolve(), name if colon else ""


def absolute_reference(reference: str) -> str:
    """Return a reference with an absolute path, which is valid in any working directory."""
    path, name = split_reference(reference)
    return f"{path}:{name}"


def module_of(path: Path, words: str = "") -> ModuleType:
    """Import a script, once for each version of its text; the module is never `__main__`.

    All scripts are imported by this function. It rejects those that are named only by data, such as
    a file, a folder, a list or a pipe. For `words`, see `require_trusted`.
    """
    with reading(path):
        path.stat()  # the error of a missing script comes first
        require_trusted(path, words or str(path))
        text = path.read_bytes()
    digest = hashlib.sha256(text).hexdigest()
    if (path, digest) not in _modules:
        _modules[path, digest] = _imported(path, text, f"{path.stem}_{digest[:16]}")
    return _modules[path, digest]


def is_loaded(path: Path) -> bool:
    """Return whether this process has imported a script, or is running it."""
    files = (getattr(module, "__file__", None) for module in [*sys.modules.values()])
    return any(file is not None and _are_same(Path(file), path) for file in files)


def _are_same(one: Path, other: Path) -> bool:
    # Resolving the links of all these paths would take as long as a short run.
    try:
        return one.samefile(other)
    except OSError:
        return False


def _imported(path: Path, text: bytes, name: str) -> ModuleType:
    module = ModuleType(name)
    module.__file__ = str(path)
    if str(path.parent) not in sys.path:  # the script may import modules from there
        sys.path.append(str(path.parent))
    sys.modules[name] = module  # dataclasses look up their module there
    _importing.append(path)
    try:
        with script_errors(path):
            exec(compile(text, str(path), "exec"), vars(module))
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        _importing.pop()
    return module


def reject_while_importing(call: str) -> None:
    """Reject a call that a script makes during its import, which would import it again."""
    if _importing:
        raise UsageError(
            f"the script calls {call} while it is imported. Put this call below the line"
            ' if __name__ == "__main__":'
        )


@contextmanager
def script_errors(file: Path | str | None, what: str = "") -> Iterator[None]:
    """Turn any exception of the user's code in `file` into an error that shows its line."""
    try:
        yield
    except (Exception, SystemExit) as error:
        linecache.checkcache()
        message = str(error) if isinstance(error, IslandsError) else _described(error)
        place = _line(error, str(file)) if file is not None else ""
        raise InputError(": ".join(filter(None, (what, place, message)))) from error


def script_line(error: BaseException) -> str:
    """Return the line of an imported script that raised the error; empty if there is none."""
    files = {str(path) for path, _ in _modules}
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename in files:
            return _line(error, frame.filename)
    return ""


def _described(error: BaseException) -> str:
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _line(error: BaseException, file: str) -> str:
    """Return the line of the error: that of a syntax error, otherwise the last one in `file`."""
    if isinstance(error, SyntaxError) and error.filename:
        file, numbers = error.filename, [error.lineno or 0]
    else:
        frames = traceback.extract_tb(error.__traceback__)
        numbers = [frame.lineno or 0 for frame in frames if frame.filename == file]
    if not numbers:
        return file
    line = linecache.getline(file, numbers[-1]).strip()
    return f"{file}, line {numbers[-1]}" + (f", {line!r}" if line else "")


def reference_to(value: Any) -> str | None:
    """Return `FILE.py:NAME` of a value at the top level of a script, or None.

    An object without attributes may be represented by its class.
    """
    for module in _homes(value):
        file = getattr(module, "__file__", None)
        if file is None or not file.endswith(".py"):
            continue
        for name, defined in list(vars(module).items()):
            if defined is value:
                return absolute_reference(f"{file}:{name}")
    if not isinstance(value, type) and not getattr(value, "__dict__", None):
        return reference_to(type(value))
    return None


def file_of(value: Any) -> str | None:
    """Return the file that defines a class or function, or None."""
    return getattr(sys.modules.get(value.__module__), "__file__", None)


def _homes(value: Any) -> Iterator[ModuleType]:
    """Yield the users' modules that may define a value."""
    owners = (value, getattr(value, "function", None), type(value))
    modules = [getattr(owner, "__module__", None) for owner in owners]
    names = [name for name in modules if isinstance(name, str)]
    for name in dict.fromkeys([*names, "__main__"]):
        if name in sys.modules and name.partition(".")[0] != "islands":
            yield sys.modules[name]
