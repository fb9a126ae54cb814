"""The command line: each subcommand is a module with `add_arguments` and `main`.

Related commands share a module, with functions `add_NAME` and `NAME` for each command. Modules that
are slow to import are imported by the functions that need them, so that `--help` is fast.

- `COMMANDS`: the subcommands and their descriptions.
- `parser`: the parser of a subcommand, whose epilog has examples.
- `main`: parses a command line, runs the command and returns the exit status.

May import everything but `testing`.
"""

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout, suppress
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path

import islands
from islands.cli.arguments import Parser, declare_names, names_in
from islands.custom.scripts import script_line
from islands.display.terminal import coloured, takes_colours
from islands.errors import IslandsError, RunError, UnwritableError, UsageError
from islands.parallel import (
    InterruptedTogether,
    describe,
    launched,
    leave,
    leave_alone,
    record_error,
)
from islands.paths import writing
from islands.text import command_line, nearest, show, unknown

COMMANDS = {
    "run": "Solve instances, once or with several seeds, in one process or under mpirun.",
    "resume": "Resume a run from its last checkpoint, with the same or another number of ranks.",
    "verify": "Compute the exact cost of a solution file or a run's folder,"
    " and check that it is feasible.",
    "check": "Compare all ways to evaluate a problem on random solutions,"
    " and find faults in its code.",
    "instances": "List, show, fetch or check the instances of benchmark sets.",
    "completion": "Print a script that lets a shell complete commands, arguments and options.",
    "doctor": "Check this machine: versions, GPUs, compiler, MPI, and under mpirun the transports.",
    "bench": "Measure throughput, scaling and migration on this machine,"
    " and simulate topologies beyond it.",
    "reproduce": "Repeat a paper's experiments, and compare its tables with ours.",
    "submit": "Write, check and submit the script of a Slurm job.",
    "status": "Show the state of a run, other work, a job or a sweep.",
    "watch": "Show the progress of work that another process or a job is doing.",
    "collect": "Write one table of all runs of a sweep, and name the unfinished ones.",
    "report": "Write a page with pictures of one run, or a page that compares several.",
    "plot": "Write one picture of a run as PNG or SVG.",
    "export": "Write the records of a run as one table, for other programs.",
    "tune": "Try configurations on instances and seeds, at random or on a grid, and rank them.",
}
"""The description of each command in `--help`."""
_SHARED = {
    **dict.fromkeys(("run", "resume"), "run"),
    **dict.fromkeys(("verify", "check"), "verify"),
    **dict.fromkeys(("status", "watch", "collect"), "follow"),
    **dict.fromkeys(("report", "plot", "export"), "report"),
    "submit": "job",
}
"""The modules of commands that share a module; the others have a module of the same name."""
_COLLECTIVE = ("run", "resume", "doctor", "bench", "reproduce", "tune")
"""The commands that run on all ranks; the others run on rank 0 only."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status; under mpirun, only rank 0 prints.

    Without `argv`, run the command line of the process and end the process.
    """
    line = list(sys.argv[1:] if argv is None else argv)
    _prepare_streams()
    status = 0
    try:
        with command_line():
            status = _run(line)
        _flush()
    except BrokenPipeError:
        return status or 1
    except UnwritableError as error:
        _print(error, with_traceback="--debug" in line)
        return status or error.status
    return leave(status) if argv is None else status


def _run(line: list[str]) -> int:
    """Run a command, report its errors and return its exit status."""
    rank, args = 0, None
    try:
        rank, _ = launched()
        with (
            Path(os.devnull).open("w") as nowhere,
            redirect_stdout(sys.stdout if rank == 0 else nowhere),
        ):
            args = parsed(line)
        if rank > 0 and args.command not in _COLLECTIVE:
            return 0
        _, perform = functions_of(args.command)
        from islands.custom.trust import command  # imports NumPy, which --help does not need

        with command(names_in(args), is_all=getattr(args, "trust", False)):
            return perform(args)
    except SystemExit as leaving:
        if not (place := script_line(leaving)):
            return leaving.code if isinstance(leaving.code, int) else 0
        # A script called sys.exit, so the status says nothing about the command.
        message = f"{place}: sys.exit({leaving.code!r}) cannot end a command."
        _print(RunError(f"{message} Raise an error instead"), with_traceback="--debug" in line)
        return RunError.status
    except BrokenPipeError:
        _flush()
        return 1
    except BaseException as error:
        if isinstance(error, OSError):
            _flush()  # fails again, with a better message, if the error concerns standard output
        if rank == 0 or not isinstance(error, IslandsError):
            _print(error, with_traceback="--debug" in line)
        elif args is None:
            # Rank 0 reports this error. If this rank failed, the launcher might end rank 0 before.
            return 0
        if not isinstance(error, KeyboardInterrupt):
            return getattr(error, "status", 1)
        if not isinstance(error, InterruptedTogether):
            leave_alone(130)
        return 130


def functions_of(
    command: str,
) -> tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]:
    """Return the functions of a command: one declares its options, the other runs it."""
    module = import_module(f"islands.cli.{_SHARED.get(command, command)}")
    if command in _SHARED:
        return getattr(module, f"add_{command}"), getattr(module, command)
    return module.add_arguments, module.main


def parser(selected: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of all commands; only that of the `selected` command has options."""
    description = (islands.__doc__ or "").partition("\n")[0]
    top = Parser(prog="islands", description=description, allow_abbrev=False)
    top.add_argument("--version", action="version", version=f"islands {islands.__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, sentence in COMMANDS.items():
        command = commands.add_parser(name, help=sentence, description=sentence, allow_abbrev=False)
        if name != selected:
            continue
        command.formatter_class = argparse.RawDescriptionHelpFormatter
        add_arguments, _ = functions_of(name)
        add_arguments(command)
        command.add_argument("--debug", action="store_true", help="show the traceback of an error")
        command.set_defaults(options=[text for a in command._actions for text in a.option_strings])
        declare_names(command)
    return top


def parsed(line: list[str]) -> argparse.Namespace:
    """Return the parsed command line; reject unknown options."""
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
            raise UsageError(_unknown_option(word.partition("=")[0], known))
        raise UsageError(f"unexpected {word!r}. See islands {args.command} --help")
    return args


def _unknown_option(name: str, known: Sequence[str]) -> str:
    """Return the message about an unknown option, which may be meant as a setting or criterion."""
    if "--set" in known and not nearest(name, known):
        from islands.configuration.fit import how_to_write

        if (text := how_to_write(name)) is not None:
            return f"unknown option {name!r}. Did you mean {text!r}?"
    return unknown("option", name, known)


def _print(error: BaseException, *, with_traceback: bool) -> None:
    record_error(error)
    message = f"islands: {describe(error, is_traced=with_traceback)}"
    with suppress(OSError):  # the exit status still reports the failure
        if with_traceback:
            show("".join(traceback.format_exception(error)), sys.stderr, end="")
        show(message, sys.stderr, painted=coloured if takes_colours(sys.stderr) else str)


def _prepare_streams() -> None:
    """Replace closed standard streams; let the output escape characters it cannot encode."""
    if sys.stdin is None:
        sys.stdin = Path(os.devnull).open()  # noqa: SIM115, as it stays open
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115, as it stays open
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _flush() -> None:
    """Flush standard output; if this fails, discard it, as Python would fail again at exit."""
    try:
        with writing("standard output"):
            sys.stdout.flush()
    except (OSError, UnwritableError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise
