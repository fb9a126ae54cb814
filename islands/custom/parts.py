"""The kinds of user-defined parts, and their registration.

A registry is a dictionary by name: a script's part is entered under its own name, which settings
and records then contain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import Field, dataclass, is_dataclass
from pathlib import Path
from typing import Any, ClassVar

from islands.backends.source import Header
from islands.custom.scripts import (
    absolute_reference,
    file_of,
    is_reference,
    module_of,
    reference_to,
    script_errors,
    split_reference,
)
from islands.errors import InputError, UsageError
from islands.paths import data_folder
from islands.settings import Settings
from islands.text import either, nearest, plain

_NAME = re.compile(r"[A-Za-z]\w*(-\w+)*")
_MEMBERS: dict[str, tuple[type, str]] = {
    "name": (str, '"mine"'),
    "header": (Header, 'islands.Header("mine.cuh", TEXT)'),
    "encodings": (tuple, '("keys",)'),
    "solution_kinds": (tuple, '("order",)'),
    "solution_kind": (str, '"order"'),
    "solution_suffix": (str, '".txt"'),
    "instance": (str, '"mine-20"'),
    "size": (int, "20"),
    "gene": (object, "numpy.dtype(numpy.float32)"),
    "Settings": (type, "a dataclass derived from islands.Settings"),
}
"""Required attributes of parts: their types, and an example of each."""


@dataclass(frozen=True)
class ScriptPart:
    """A part that a script defines."""

    part: Any
    reference: str | None
    """`/path/FILE.py:NAME`, from which it can be loaded again, or None."""


class PartKind:
    """A kind of part, such as crossovers, to which scripts can add their own."""

    all: ClassVar[list[PartKind]] = []

    def __init__(
        self,
        what: str,
        base: type,
        registry: MutableMapping[str, Any],
        built_in: Iterable[Any],
        needs: tuple[str, ...],
        *,
        is_made: bool = False,
        entry: Callable[[Any], Any] = lambda part: part,
    ) -> None:
        """Create a kind from its built-in parts and its registry, which contains `entry(part)`.

        Parts are classes, from which each run creates objects. If `is_made`, they are objects; a
        class then stands for an object that is created without arguments.
        """
        self.what, self.base, self.registry = what, base, registry
        self.of_scripts: dict[str, ScriptPart] = {}
        """The parts from scripts, by name."""
        self._built_in, self._needs = tuple(built_in), ("name", *needs)
        self._taken = {plain(name): name for name in registry}
        self._is_made, self._entry = is_made, entry
        PartKind.all.append(self)

    def name_of(self, value: Any) -> Any:
        """Return the name of a part given as `FILE.py:NAME`, a class or an object.

        Return a name unchanged, and also a value that cannot be a part, such as a number.
        """
        is_part = is_reference(value) or not isinstance(value, str | int | float | None)
        return self.registered(value).part.name if is_part else value

    def registered(self, value: Any) -> ScriptPart:
        """Register a part from a script; reject a value that is not of this kind."""
        given, reference = value, None
        if is_reference(given):
            reference, value = absolute_reference(given), self._loaded(given)
        if self._stands_for_class(value):
            value = type(value)
        if not self._fits(value):
            raise self._unfit(_words(given), value)
        part = value
        if self._is_made and isinstance(value, type):
            with script_errors(file_of(value), f"{_words(given)} is created without arguments"):
                part = value()
        reference = reference or reference_to(part)
        if reference is None and part is not value:
            reference = reference_to(value)
        script_part = ScriptPart(part, reference)
        if not any(built_in in (part, type(part)) for built_in in self._built_in):
            self._require_complete(part)
            self.registry[part.name] = self._entry(part)
            self.of_scripts[part.name] = script_part
        return script_part

    def _loaded(self, reference: str) -> Any:
        path, name = split_reference(reference)
        defined = vars(module_of(path, f"{path}:{name} ({self.what})"))
        if name in defined:
            return defined[name]
        near = nearest(name, defined) if name else []
        hint = f" Did you mean {near[0]!r}?" if near else ""
        missing = f"defines no {name!r}.{hint}" if name else "the name of a part is missing."
        raise InputError(f"{path}: {missing} {self._offered(path)}")

    def _offered(self, path: Path) -> str:
        """Return a hint that names the script's parts of this kind."""
        defined = vars(module_of(path)).items()
        fit = [name for name, part in defined if self._fits(part) and not self.has_built_in(part)]
        if not fit:
            return f"It defines no {self.what}: derive one from islands.{self.base.__name__}"
        return f"Write {either([f'{path.name}:{name}' for name in fit])}"

    def _fits(self, value: Any) -> bool:
        if isinstance(value, type):
            return issubclass(value, self.base) and value is not self.base
        return self._is_made and isinstance(value, self.base)

    def has_built_in(self, value: Any) -> bool:
        """Return whether a part belongs to the package."""
        return any(value is part for part in self._built_in)

    def _stands_for_class(self, value: Any) -> bool:
        """Return whether an object stands for its class, as the class defines no constructor."""
        if self._is_made or not isinstance(value, self.base):
            return False
        creator = next(kind for kind in type(value).__mro__ if "__init__" in vars(kind))
        return creator is self.base

    def _unfit(self, words: str, value: Any) -> UsageError:
        base = f"islands.{self.base.__name__}"
        if isinstance(value, self.base):
            fix = f"Pass the class {type(value).__name__}: each run creates its own object"
        elif is_reference(words):
            fix = self._offered(split_reference(words)[0])
        else:
            fix = f"Pass a subclass of {base}, FILE.py:NAME of one, or a name"
        return UsageError(f"{words}: is {_described(value)}, but must be {_one(self.what)}. {fix}")

    def _require_complete(self, part: Any) -> None:
        """Reject a part that lacks a required attribute or has the name of another part."""
        kind = part if isinstance(part, type) else type(part)
        words = f"{self.what} {kind.__name__}"
        if lacking := sorted(getattr(kind, "__abstractmethods__", ())):
            raise UsageError(f"{words}: has no {', '.join(lacking)}(). Define it")
        for name in self._needs:
            wanted, example = _MEMBERS[name]
            if not hasattr(part, name):
                raise UsageError(f"{words}: has no {name}. Write {name} = {example}")
            value = getattr(part, name)
            if not isinstance(value, wanted):
                raise UsageError(
                    f"{words}: {name} is {_described(value)}. Write it like {name} = {example}"
                )
        if hasattr(part, "Settings"):
            _require_settings(words, part.Settings)
        if _NAME.fullmatch(part.name) is None:
            raise UsageError(
                f"{words}: name={part.name!r}: must begin with a letter, followed by letters,"
                " digits, - or _"
            )
        if known := self._taken.get(plain(part.name)):
            raise UsageError(
                f"{words}: the name {part.name!r} is taken by the built-in {self.what} {known!r}."
                " Choose another name"
            )
        if isinstance(header := getattr(part, "header", None), Header):
            _require_own_file(words, header)


def _words(given: Any) -> str:
    """Return the name of a part in messages, given as an object or by a reference."""
    return given if is_reference(given) else repr(given)


def _require_settings(words: str, settings: type) -> None:
    """Reject a `Settings` class that cannot be used."""
    if not issubclass(settings, Settings):
        raise UsageError(
            f"{words}: Settings is {_described(settings)}. Derive it from islands.Settings"
        )
    if not is_dataclass(settings) or any(isinstance(v, Field) for v in vars(settings).values()):
        raise UsageError(
            f"{words}: {settings.__name__} is not a dataclass. Decorate it with"
            " @dataclass(frozen=True)"
        )


def _require_own_file(words: str, header: Header) -> None:
    """Reject a header with neither a built-in file nor a text, or with both."""
    is_file = (data_folder("kernels") / header.name).is_file()
    if is_file == (header.text is not None):
        fix = "a built-in header has this name. Choose another name"
        if not is_file:
            fix = (
                f"has no text. Write islands.Header({header.name!r}, TEXT), or the Path of its file"
            )
        raise UsageError(f"{words}: header {header.name!r}: {fix}")


def _described(value: Any) -> str:
    for kind in PartKind.all:
        if value is kind.base:
            return f"islands.{value.__name__} itself"
        if isinstance(value, kind.base):
            return f"{_one(kind.what)} (an object of {type(value).__name__})"
        if isinstance(value, type) and issubclass(value, kind.base):
            return f"{_one(kind.what)} (the class {value.__name__})"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return "a function" if callable(value) else f"of the type {type(value).__name__}"


def _one(what: str) -> str:
    return f"{'an' if what[0] in 'aeiou' else 'a'} {what}"
