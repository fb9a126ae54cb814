"""Print a script that lets a shell complete commands, arguments and options."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module

from islands.algorithms import ALGORITHMS
from islands.algorithms.operators import CROSSOVERS, MUTATIONS
from islands.cells import METRICS
from islands.cli.instances import ACTIONS
from islands.cli.report import RECORDS
from islands.configuration.fit import every_setting
from islands.configuration.stop import CRITERIA
from islands.encodings import ENCODINGS
from islands.errors import UsageError
from islands.improvers import IMPROVERS
from islands.instances.catalogue import catalogue
from islands.instances.formats import EVERY_FORMAT
from islands.migration import TOPOLOGIES
from islands.presets import PRESETS
from islands.report.pictures import PICTURES
from islands.studies.bench import BENCHES
from islands.studies.papers import ALL, PAPERS
from islands.text import show, unknown

VALUES: Mapping[str, Sequence[str]] = {
    "--algorithm": [*ALGORITHMS],
    "--backend": ["auto", "cpu", "cuda"],
    "--crossover": [*CROSSOVERS],
    "--encoding": [*ENCODINGS],
    "--format": [*EVERY_FORMAT],
    "--improver": [*IMPROVERS],
    "--metric": METRICS,
    "--migration": [*TOPOLOGIES],
    "--mutation": [*MUTATIONS],
    "--preset": [*PRESETS],
    "--topology": [*TOPOLOGIES],
}
"""The values of options, which are the same in all commands."""
_INSTANCE_OPTIONS = ("--of", "--only")
"""The options whose values are names of instances."""
_SETTING_OPTIONS = ("--set", "--over", "--colony")
"""The options whose values begin with the name of a setting."""
_FILE_METAVARS = ("DIR", "FILE", "FILE.toml", "OLD.json")
"""The metavariables of options whose values are files."""
_EXAMPLES = """
to install:
  islands completion bash >> ~/.bashrc
  islands completion zsh >> ~/.zshrc
  islands completion fish > ~/.config/fish/completions/islands.fish
"""
_BASH = """_islands_instances="{instances}"
_islands() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
    local options words files=-f
    if [ "$current" = "=" ]; then
        current=
    elif [ "$previous" = "=" ]; then
        previous=${{COMP_WORDS[COMP_CWORD - 2]}}
    fi
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{commands}" -- "$current"))
        return
    fi
    case ${{COMP_WORDS[1]}} in
{cases}
    esac
    case $previous in
{values}
    esac
    case $current in
        -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
        *) COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen $files -- "$current")) ;;
    esac
    case ${{COMPREPLY[0]}} in
        *=) compopt -o nospace 2>/dev/null ;;
    esac
}}
complete -o filenames -F _islands islands
"""
_ZSH = "autoload -Uz +X compinit bashcompinit && compinit && bashcompinit\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the argument of `islands completion`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("shell", metavar="SHELL", help=", ".join(_SCRIPTS))


def main(args: argparse.Namespace) -> int:
    """Print the script of a shell."""
    if args.shell not in _SCRIPTS:
        raise UsageError(unknown("shell", args.shell, _SCRIPTS))
    show(_SCRIPTS[args.shell](_options()), end="")
    return 0


def _argument_words() -> dict[str, list[str]]:
    """Return the possible arguments of commands; leave out commands that only take files."""
    instances = catalogue().names()
    return {
        **dict.fromkeys(("run", "check", "submit", "tune", "verify"), instances),
        "instances": [*ACTIONS, *catalogue().sets, *instances],
        "bench": [*BENCHES],
        "export": [*RECORDS],
        "plot": [*PICTURES],
        "reproduce": [ALL, *PAPERS, *_tables()],
    }


def _tables() -> Iterator[str]:
    for name, home in PAPERS.items():
        paper = import_module(home).PAPER
        for table in (*paper.tables, *paper.printed):
            yield f"{name}/{table}"


def _options() -> dict[str, dict[str, argparse.Action]]:
    """Return the long options of the commands."""
    from islands.cli import COMMANDS, parser

    options = {}
    for name in COMMANDS:
        top = parser(name)
        (commands,) = (a for a in top._actions if isinstance(a, argparse._SubParsersAction))
        actions = [(text, a) for a in commands.choices[name]._actions for text in a.option_strings]
        options[name] = {text: action for text, action in actions if text.startswith("--")}
    return options


def _bash(options: Mapping[str, Mapping[str, argparse.Action]]) -> str:
    instances = " ".join(catalogue().names())
    words = {
        name: " ".join(arguments).replace(instances, "$_islands_instances")
        for name, arguments in _argument_words().items()
    }
    words["completion"] = " ".join(_SCRIPTS)
    cases = (
        f'        {name}) options="{" ".join(names)}" words="{words.get(name, "")}" ;;'
        for name, names in options.items()
    )
    values = [f'        {name}) words="{" ".join(own)}" ;;' for name, own in VALUES.items()]
    values.append(f'        {"|".join(_INSTANCE_OPTIONS)}) words="$_islands_instances" ;;')
    for option, prefixes in _beginnings().items():
        values.append(f'        {option}) words="{" ".join(prefixes)}" files= ;;')
    valued = {text: a for own in options.values() for text, a in own.items() if a.nargs != 0}
    others = sorted({*valued} - {*VALUES, *_INSTANCE_OPTIONS, *_beginnings()})
    for empty, is_file in (("words=", True), ("words= files=", False)):
        named = [text for text in others if (valued[text].metavar in _FILE_METAVARS) == is_file]
        values.append(f"        {'|'.join(named)}) {empty} ;;")
    return _BASH.format(
        instances=instances,
        commands=" ".join(options),
        cases="\n".join(cases),
        values="\n".join(values),
    )


def _beginnings() -> dict[str, list[str]]:
    """Return the prefixes of values such as `seconds=60`, by option."""
    kinds = [name if kind.example == name else f"{name}=" for name, kind in CRITERIA.items()]
    settings = [f"{name}=" for name in every_setting()]
    return {"--stop": kinds, **dict.fromkeys(_SETTING_OPTIONS, settings)}


def _fish(options: Mapping[str, Mapping[str, argparse.Action]]) -> str:
    from islands.cli import COMMANDS

    words, lines, known = _argument_words(), [], {**VALUES, **_beginnings()}
    for name, names in options.items():
        sentence = shlex.quote(COMMANDS[name])
        lines.append(f"complete -c islands -n __fish_use_subcommand -a {name} -d {sentence}")
        here = f"complete -c islands -n '__fish_seen_subcommand_from {name}'"
        if name in words:
            lines.append(f"{here} -a {shlex.quote(' '.join(words[name]))}")
        for option, action in names.items():
            offered = known.get(option)
            values = f" -x -a {shlex.quote(' '.join(offered))}" if offered else ""
            help_text = shlex.quote((action.help or "") % vars(action))
            lines.append(f"{here} -l {option.removeprefix('--')}{values} -d {help_text}")
    return "\n".join([*lines, ""])


_SCRIPTS = {"bash": _bash, "zsh": lambda options: _ZSH + _bash(options), "fish": _fish}
"""The functions that return the scripts, by shell."""
