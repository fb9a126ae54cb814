"""Complete commands, arguments and options in a shell, by argcomplete.

The printed script runs `islands` each time that a word is completed. `islands.__main__` then calls
`complete`, which writes the possible words and ends the process.
"""

import argparse
from collections.abc import Iterable, Iterator
from importlib import import_module

from islands.cli.arguments import require_extra
from islands.errors import UsageError
from islands.text import show, unknown

_SHELLS = ("bash", "zsh", "fish")
_FILES = ("DIR", "FILE", "FILE.toml", "INSTANCE", "OLD.json", "PROBLEM", "SOLUTION")
"""The metavariables of values that may be files."""
_EXAMPLES = """
to install:
  islands completion bash >> ~/.bashrc
  islands completion zsh >> ~/.zshrc
  islands completion fish > ~/.config/fish/completions/islands.fish
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the argument of `islands completion`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("shell", metavar="SHELL", help=", ".join(_SHELLS))


def main(args: argparse.Namespace) -> int:
    """Print the script of a shell."""
    if args.shell not in _SHELLS:
        raise UsageError(unknown("shell", args.shell, _SHELLS))
    require_extra("completion", "argcomplete", "argcomplete")
    from argcomplete.shell_integration import shellcode

    start = "autoload -Uz compinit && compinit\n" if args.shell == "zsh" else ""
    show(start + shellcode(["islands"], shell=args.shell), end="")
    return 0


def complete(line: str) -> None:
    """Write the words that can complete a command line, and end the process."""
    from argcomplete import autocomplete

    from islands.cli import COMMANDS, parser

    command = next((word for word in line.split() if word in COMMANDS), None)
    top = parser(command)
    if command is not None:
        values = _values(command)
        (commands,) = (a for a in top._actions if isinstance(a, argparse._SubParsersAction))
        for action in commands.choices[command]._actions:
            name = action.option_strings[-1] if action.option_strings else action.dest
            _offer(action, values.get(name, ()))
    autocomplete(top, always_complete_options=False)


def _offer(action: argparse.Action, values: Iterable[str]) -> None:
    """Let argcomplete offer these values for an argument, and files if it may be a file."""
    from argcomplete.completers import FilesCompleter

    def words(prefix: str, **_: object) -> list[str]:
        files = FilesCompleter()(prefix) if action.metavar in _FILES else []
        return [*values, *files]

    action.completer = words  # type: ignore[attr-defined]


def _values(command: str) -> dict[str, Iterable[str]]:
    """Return the known values of each option and operand of a command, for completion."""
    from islands.algorithms import ALGORITHMS
    from islands.algorithms.operators import CROSSOVERS, MUTATIONS
    from islands.cells import METRICS
    from islands.cli.instances import ACTIONS
    from islands.cli.report import RECORDS
    from islands.configuration.fit import every_setting
    from islands.configuration.stop import CRITERIA
    from islands.encodings import ENCODINGS
    from islands.improvers import IMPROVERS
    from islands.instances.catalogue import catalogue
    from islands.instances.formats import EVERY_FORMAT
    from islands.migration import TOPOLOGIES
    from islands.presets import PRESETS
    from islands.report.pictures import PICTURES
    from islands.studies.bench import BENCHES
    from islands.studies.bench.rivals.contest import RIVALS

    instances = catalogue().names()
    settings = [f"{name}=" for name in every_setting()]
    stop = [name if kind.example == name else f"{name}=" for name, kind in CRITERIA.items()]
    what = {"bench": BENCHES, "export": RECORDS, "plot": PICTURES, "reproduce": _tables()}
    return {
        "action": ACTIONS,
        "instance": instances,
        "instances": instances,
        "name": [*catalogue().sets, *instances],
        "shell": _SHELLS,
        "what": what.get(command, ()),
        "--algorithm": ALGORITHMS,
        "--backend": ("auto", "cpu", "cuda"),
        "--colony": settings,
        "--crossover": CROSSOVERS,
        "--encoding": ENCODINGS,
        "--format": EVERY_FORMAT,
        "--improver": IMPROVERS,
        "--metric": METRICS,
        "--migration": TOPOLOGIES,
        "--mutation": MUTATIONS,
        "--of": instances,
        "--only": instances,
        "--over": settings,
        "--preset": PRESETS,
        "--rivals": RIVALS,
        "--set": settings,
        "--stop": stop,
        "--topology": TOPOLOGIES,
    }


def _tables() -> Iterator[str]:
    from islands.studies.papers import ALL, PAPERS

    yield ALL
    for name, home in PAPERS.items():
        paper = import_module(home).PAPER
        yield name
        yield from (f"{name}/{table}" for table in (*paper.tables, *paper.printed))
