"""Print a script that lets a shell complete commands, arguments and options."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Mapping

from islands.cli.completion_words import OF_INSTANCES, VALUES, argument_words, instance_names
from islands.errors import UsageError
from islands.text import show, unknown

_EXAMPLES = """
to install:
  islands completion bash >> ~/.bashrc
  islands completion zsh >> ~/.zshrc
  islands completion fish > ~/.config/fish/completions/islands.fish
"""
_BASH = """_islands_instances="{instances}"
_islands() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
    local options words
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
        *) COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current")) ;;
    esac
}}
complete -o filenames -F _islands islands
"""
_ZSH = "autoload -Uz +X compinit bashcompinit && compinit && bashcompinit\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the argument of `islands completion`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    parser.add_argument("shell", metavar="SHELL", help=", ".join(_SCRIPTS))


def main(args: argparse.Namespace) -> int:
    """Print the script of a shell."""
    if args.shell not in _SCRIPTS:
        raise UsageError(unknown("shell", args.shell, _SCRIPTS))
    show(_SCRIPTS[args.shell](_options()), end="")
    return 0


def _actions() -> Iterator[tuple[str, str, argparse.Action]]:
    """Yield each command with each of its long options."""
    from islands.cli import COMMANDS, parser

    for name in COMMANDS:
        top = parser(name)
        (commands,) = (a for a in top._actions if isinstance(a, argparse._SubParsersAction))
        for action in commands.choices[name]._actions:
            for text in action.option_strings:
                if text.startswith("--"):
                    yield name, text, action


def _options() -> dict[str, Mapping[str, str]]:
    """Return the help of each long option of each command."""
    found: dict[str, dict[str, str]] = {}
    for name, text, action in _actions():
        found.setdefault(name, {})[text] = (action.help or "") % vars(action)
    return {**found}


def _others() -> list[str]:
    """Return the options with a value, of which nothing but files can be offered."""
    known = {*VALUES, *OF_INSTANCES}
    return sorted({text for _, text, action in _actions() if action.nargs != 0} - known)


def _bash(options: Mapping[str, Mapping[str, str]]) -> str:
    instances = " ".join(instance_names())
    words = {
        name: " ".join(each).replace(instances, "$_islands_instances")
        for name, each in argument_words().items()
    }
    words["completion"] = " ".join(_SCRIPTS)
    cases = (
        f'        {name}) options="{" ".join(names)}" words="{words.get(name, "")}" ;;'
        for name, names in options.items()
    )
    values = [f'        {name}) words="{" ".join(each)}" ;;' for name, each in VALUES.items()]
    values.append(f'        {"|".join(OF_INSTANCES)}) words="$_islands_instances" ;;')
    values.append(f"        {'|'.join(_others())}) words= ;;")
    return _BASH.format(
        instances=instances,
        commands=" ".join(options),
        cases="\n".join(cases),
        values="\n".join(values),
    )


def _zsh(options: Mapping[str, Mapping[str, str]]) -> str:
    return _ZSH + _bash(options)


def _fish(options: Mapping[str, Mapping[str, str]]) -> str:
    from islands.cli import COMMANDS

    words, lines = argument_words(), []
    for name, names in options.items():
        sentence = shlex.quote(COMMANDS[name])
        lines.append(f"complete -c islands -n __fish_use_subcommand -a {name} -d {sentence}")
        here = f"complete -c islands -n '__fish_seen_subcommand_from {name}'"
        if name in words:
            lines.append(f"{here} -a {shlex.quote(' '.join(words[name]))}")
        for option, sentence in names.items():
            values = f" -x -a {shlex.quote(' '.join(VALUES[option]))}" if option in VALUES else ""
            lines.append(
                f"{here} -l {option.removeprefix('--')}{values} -d {shlex.quote(sentence)}"
            )
    return "\n".join([*lines, ""])


_SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
"""The function that writes the script of each shell."""
