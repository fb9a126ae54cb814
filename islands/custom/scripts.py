"""What a user's script defines, by `FILE.py:NAME`, and what goes wrong in a user's own lines."""

from __future__ import annotations

import hashlib
import linecache
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from islands.errors import InputError, IslandsError, UsageError
from islands.paths import reading

_modules: dict[tuple[Path, str], ModuleType] = {}
"""Those that were imported, by the file and the digest of its text."""
_importing: list[Path] = []


def is_reference(value: object) -> bool:
    """Return whether a value is text such as `FILE.py:NAME`."""
    return isinstance(value, str) and (value.endswith(".py") or ".py:" in value)


def parted(reference: str) -> tuple[Path, str]:
    """Return the file, by its full path, and the name in it, which may be empty."""
    file, colon, name = reference.rpartition(".py:")
    path = Path(f"{file}.py" if colon else reference).expanduser()
    with reading(path):
        return path.resolve(), name if colon else ""


def lasting(reference: str) -> str:
    """Return a reference that means the same in any folder."""
    path, name = parted(reference)
    return f"{path}:{name}"


def module_of(path: Path) -> ModuleType:
    """Import a script, once for each text that its file has; it never is `__main__`."""
    with reading(path):
        text = path.read_bytes()
    digest = hashlib.sha256(text).hexdigest()
    if (path, digest) not in _modules:
        _modules[path, digest] = _imported(path, text, f"{path.stem}_{digest[:16]}")
    return _modules[path, digest]


def _imported(path: Path, text: bytes, name: str) -> ModuleType:
    module = ModuleType(name)
    module.__file__ = str(path)
    if str(path.parent) not in sys.path:  # where what it imports may lie
        sys.path.append(str(path.parent))
    sys.modules[name] = module  # dataclasses look themselves up there
    _importing.append(path)
    try:
        with own_lines(path):
            exec(compile(text, str(path), "exec"), vars(module))
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        _importing.pop()
    return module


def refuse_while_importing(call: str) -> None:
    """Refuse a call that a script makes while it is imported, which would import it again."""
    if _importing:
        raise UsageError(
            f"this calls {call} while the script is imported. Put it below the line"
            ' if __name__ == "__main__":'
        )


@contextmanager
def own_lines(file: Path | str | None, what: str = "") -> Iterator[None]:
    """Turn whatever a user's code in `file` raises inside into an error that shows its line."""
    try:
        yield
    except (Exception, SystemExit) as error:
        linecache.checkcache()
        said = str(error) if isinstance(error, IslandsError) else _described(error)
        place = _line(error, str(file)) if file is not None else ""
        raise InputError(": ".join(filter(None, (what, place, said)))) from error


def place_in(error: BaseException) -> str:
    """Return the line of a script that was imported in which it went wrong; empty where in none."""
    files = {str(path) for path, _ in _modules}
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename in files:
            return _line(error, frame.filename)
    return ""


def _described(error: BaseException) -> str:
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _line(error: BaseException, file: str) -> str:
    """Return the line in which it went wrong: of a syntax error where it is, else of `file`."""
    if isinstance(error, SyntaxError) and error.filename:
        file, numbers = error.filename, [error.lineno or 0]
    else:
        frames = traceback.extract_tb(error.__traceback__)
        numbers = [each.lineno or 0 for each in frames if each.filename == file]
    if not numbers:
        return file
    line = linecache.getline(file, numbers[-1]).strip()
    return f"{file}, line {numbers[-1]}" + (f", {line!r}" if line else "")


def reference_to(value: Any) -> str | None:
    """Return `FILE.py:NAME` of what a script's top level names, or None where there is none.

    An object without anything of its own is as good as its class.
    """
    for module in _homes(value):
        file = getattr(module, "__file__", None)
        if file is None or not file.endswith(".py"):
            continue
        for name, each in list(vars(module).items()):
            if each is value:
                return lasting(f"{file}:{name}")
    if not isinstance(value, type) and not getattr(value, "__dict__", None):
        return reference_to(type(value))
    return None


def file_of(value: Any) -> str | None:
    """Return the file that a class or a function is written in, where there is one."""
    return getattr(sys.modules.get(value.__module__), "__file__", None)


def _homes(value: Any) -> Iterator[ModuleType]:
    """Yield the modules of users that may hold a value under a name."""
    of = (value, getattr(value, "function", None), type(value))
    names = [name for each in of if isinstance(name := getattr(each, "__module__", None), str)]
    for name in dict.fromkeys([*names, "__main__"]):
        if name in sys.modules and name.partition(".")[0] != "islands":
            yield sys.modules[name]
