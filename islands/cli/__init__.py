"""The command line: one module a subcommand, each with a docstring, `add_arguments` and `main`."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import islands
from islands.cli import streams
from islands.errors import IslandsError, UnwritableError, UsageError
from islands.parallel import describe, launched, leave, speaks
from islands.text import command_line, unknown

COMMANDS = {
    "run": "Solve instances, once or with several seeds, on one process or under mpirun.",
    "resume": "Go on with a run from its last checkpoint,"
    " with the same or another number of ranks.",
    "verify": "Compute the exact cost of a solution file or a run's folder,"
    " and check that it is feasible.",
    "instances": "List, show, fetch or check the instances of benchmark sets.",
    "doctor": "Check this machine: versions, GPUs, compiler, MPI, and under mpirun the transports.",
    "bench": "Measure throughput, scaling and migration on this machine,"
    " and simulate topologies beyond it.",
    "reproduce": "Run a paper's own experiment, and put the paper's tables beside ours.",
    "tune": "Try configurations on instances and seeds, at random or on a grid, and rank them.",
}
"""What each does: the docstring of its module, which is imported when it is asked for."""
_COLLECTIVE = ("run", "resume", "doctor", "bench", "reproduce")
"""Commands that all ranks do together; the others are done by rank 0 alone."""


def _shown(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


class _Once(argparse.Action):
    """An option that has one value, wherever it stands; others than the first are refused."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Take the value."""
        from islands.spec.given import alike, twice

        seen = vars(namespace).setdefault("seen", {})
        first = seen.setdefault(self.dest, values)
        if self.option_strings and not alike(self.dest, first, values):
            name = str(option_string)
            raise twice(name, f"{name} {_shown(first)}", f"{name} {_shown(values)}")
        setattr(namespace, self.dest, values)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are ours, in one line, and whose options have one value each."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        for name in (None, "store"):
            self.register("action", name, _Once)

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print below its usage."""
        raise UsageError(f"{message}. See {self.prog} --help")


def main(argv: Sequence[str] | None = None) -> int:
    """Do one command and return its exit status; under mpirun, rank 0 speaks.

    Without `argv` the process is that of the command, and ends.
    """
    line = list(sys.argv[1:] if argv is None else argv)
    streams.prepare()
    try:
        with command_line():
            status = _done(line)
        streams.flush()
    except BrokenPipeError:
        return 1
    except UnwritableError as error:
        _print(error, with_traceback="--debug" in line)
        return error.status
    return leave(status) if argv is None else status


def _done(line: list[str]) -> int:
    """Do one command; return its exit status, having said what went wrong."""
    rank, args = 0, None
    try:
        rank, _ = launched()
        with (
            Path(os.devnull).open("w") as nowhere,
            redirect_stdout(sys.stdout if rank == 0 else nowhere),
        ):
            args = _parsed(line)
        if rank > 0 and args.command not in _COLLECTIVE:
            return 0
        return int(_module(args.command).main(args))
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 0
    except BrokenPipeError:
        streams.flush()
        return 1
    except BaseException as error:
        if isinstance(error, OSError):
            # Where it was standard output that failed, it fails again, and that is what is said.
            streams.flush()
        if speaks(rank) or not isinstance(error, IslandsError):
            _print(error, with_traceback="--debug" in line)
        elif args is None:
            # Rank 0 read the same line; a launcher that saw this rank fail first would silence it.
            return 0
        return 130 if isinstance(error, KeyboardInterrupt) else getattr(error, "status", 1)


def _module(command: str) -> ModuleType:
    return import_module(f"islands.cli.{command}")


def parser(asked: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of all commands, which knows the options of the one that is `asked` for."""
    description = (islands.__doc__ or "").partition("\n")[0]
    top = _Parser(prog="islands", description=description, allow_abbrev=False)
    top.add_argument("--version", action="version", version=f"islands {islands.__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, sentence in COMMANDS.items():
        command = commands.add_parser(name, help=sentence, description=sentence, allow_abbrev=False)
        if name != asked:
            continue
        _module(name).add_arguments(command)
        command.add_argument("--debug", action="store_true", help="show where an error comes from")
        command.set_defaults(options=[text for a in command._actions for text in a.option_strings])
    return top


def _parsed(line: list[str]) -> argparse.Namespace:
    top = parser(next((word for word in line if word in COMMANDS), None))
    if line and not line[0].startswith("-") and line[0] not in COMMANDS:
        raise UsageError(unknown("command", line[0], COMMANDS))
    args, rest = top.parse_known_args(line)
    if args.command is None and not rest:
        top.print_help()
        raise SystemExit(0)
    for word in rest:
        if word.startswith("-"):
            known = ("--help", "--version") if args.command is None else args.options
            raise UsageError(unknown("option", word.partition("=")[0], known))
        raise UsageError(f"unexpected {word!r}. See islands {args.command} --help")
    return args


def _print(error: BaseException, *, with_traceback: bool) -> None:
    if with_traceback:
        traceback.print_exception(error)
    said = describe(error, is_traced=with_traceback)
    print(f"islands: {said}", file=sys.stderr, flush=True)
