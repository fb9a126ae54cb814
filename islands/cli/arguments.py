"""The parser of the command line, and the types of options that several commands have."""

import math
import shlex
from argparse import Action, ArgumentParser, ArgumentTypeError, Namespace, _ActionsContainer
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from islands.errors import UsageError

_MOST_RUNS = 1_000_000


class Parser(ArgumentParser):
    """A parser that raises `UsageError`, and rejects two different values for an option."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        for name in (None, "store"):
            self.register("action", name, _Once)

    def error(self, message: str) -> NoReturn:
        """Raise the message of argparse as a `UsageError`."""
        raise UsageError(f"{message}. See {self.prog} --help")


@dataclass(frozen=True)
class Naming:
    """The type of options and operands that may name scripts, which are then trusted."""

    names: Callable[[str, Namespace], Iterable[str]] = lambda text, _: [text]
    """Returns the names in a value, given the parsed command line."""
    convert: Callable[[str], Any] = str

    def __call__(self, text: str) -> Any:
        """Convert the text, as argparse requires of a type."""
        return self.convert(text)


NAME = Naming()
"""The type of values of the form NAME."""
SETTING = Naming(lambda text, _: [text.partition("=")[2].strip()])
"""The type of values of the form KEY=NAME."""
CHOICES = Naming(lambda text, _: map(str.strip, text.partition("=")[2].split(",")))
"""The type of values of the form KEY=NAME,NAME."""


def _of_settings(text: str, _: Namespace) -> list[str]:
    try:
        return [pair.partition("=")[2].strip() for pair in shlex.split(text)]
    except ValueError:  # reported when the value is used
        return []


SETTINGS = Naming(_of_settings)
"""The type of values of the form KEY=NAME KEY=NAME, such as the settings of a colony."""


def declare_names(parser: ArgumentParser) -> None:
    """Store the options and operands of a parser that may name scripts, for `names_in`."""
    actions = parser._actions
    parser.set_defaults(naming={a.dest: a.type for a in actions if isinstance(a.type, Naming)})


def names_in(args: Namespace) -> Iterator[str]:
    """Yield the values of a command line that may name scripts."""
    for dest, naming in args.naming.items():
        value = getattr(args, dest, None)
        for text in value if isinstance(value, list | tuple) else [value]:
            if text is not None:
                yield from naming.names(text, args)


class _Once(Action):
    """Stores the value of an option; rejects a second, different value."""

    def __call__(
        self,
        parser: ArgumentParser,
        namespace: Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        from islands.configuration.given import alike, twice

        first = vars(namespace).setdefault("first_values", {}).setdefault(self.dest, values)
        if self.option_strings and not alike(self.dest, first, values):
            name = str(option_string)
            raise twice(name, f"{name} {_written(first)}", f"{name} {_written(values)}")
        setattr(namespace, self.dest, values)


def _written(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def folder(text: str) -> Path:
    """Convert text to the path of a folder."""
    if not text:
        raise ArgumentTypeError("'' is not a folder. Specify a new or existing folder")
    return Path(text)


def add_format(group: _ActionsContainer) -> None:
    """Declare the option for the format of an instance file."""
    from islands.instances.formats import EVERY_FORMAT

    text = f"format of the instance file: {', '.join(EVERY_FORMAT)} (default: detect it)"
    group.add_argument("--format", metavar="NAME", help=text)


def require_extra(command: str, module: str, package: str = "'islands[report]'") -> None:
    """Reject a command or an option if the module that it needs is not installed."""
    if find_spec(module) is None:
        raise UsageError(
            f"{command} needs {module}, which is not installed. Install it with: pip install"
            f" {package}"
        )


def positive(text: str) -> float:
    """Convert text to a finite number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise ArgumentTypeError(f"{text!r} must be a finite number above 0, such as 10")
    return number


def whole_number(hint: str = "", most: float = math.inf, least: int = 1) -> Callable[[str], int]:
    """Return an option type for integers of at least `least`; `hint` is the fix in errors."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            fix = f". {hint}" if hint else ""
            raise ArgumentTypeError(f"{text!r} must be a whole number of at least {least}{fix}")
        if value > most:
            raise ArgumentTypeError(f"{text!r} must be at most {most}")
        return value

    return number


threads = whole_number("Leave it out to use all cores")
"""The type of `--threads`."""


def runs(default: str) -> Callable[[str], int]:
    """Return the type of `--runs`; errors mention the default."""
    return whole_number(f"Leave it out for {default}", _MOST_RUNS)
