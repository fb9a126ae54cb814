"""The scripts for shells offer the commands and their options."""

from __future__ import annotations

import shutil
import subprocess
from argparse import _SubParsersAction
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from islands.cli import COMMANDS, main, parser
from islands.cli.completion import VALUES


def script(shell: str, capsys: Any) -> str:
    assert main(["completion", shell]) == 0
    text: str = capsys.readouterr().out
    return text


def options_of(command: str) -> Iterator[tuple[str, str]]:
    """Yield each option of a command with its help."""
    (commands,) = (a for a in parser(command)._actions if isinstance(a, _SubParsersAction))
    for action in commands.choices[command]._actions:
        for option in action.option_strings:
            yield option, action.help or ""


def offered(text: str, *words: str) -> list[str]:
    """Return what bash offers for the last of some words."""
    line = " ".join(f"'{word}'" for word in words)
    code = f"{text}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _islands\n"
    code += 'printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "-c", code], capture_output=True, text=True, check=True, timeout=20
    )
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_offers_commands_and_options(capsys: Any) -> None:
    text = script("bash", capsys)
    assert offered(text, "islands", "") == list(COMMANDS)
    assert offered(text, "islands", "wat") == ["watch"]
    assert offered(text, "islands", "run", "--see") == ["--seed"]
    assert offered(text, "islands", "report", "--") == [
        *("--help", "--out", "--instance", "--trust", "--debug"),
    ]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_offers_arguments_and_values(
    capsys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("national.tsp").touch()
    text = script("bash", capsys)
    assert offered(text, "islands", "run", "national/z") == ["national/zi929"]
    demos = ["demo/tsp", "demo/qap", "demo/mkp", "demo/tour"]
    assert offered(text, "islands", "check", "demo/") == demos
    assert offered(text, "islands", "run", "national.") == ["national.tsp"]
    assert offered(text, "islands", "instances", "fe") == ["fetch"]
    assert offered(text, "islands", "plot", "a", "sol") == ["solution"]
    assert offered(text, "islands", "export", "a", "m") == ["migrations"]
    assert offered(text, "islands", "bench", "qu") == ["quality"]
    tables = offered(text, "islands", "reproduce", "jardim2021/l")
    assert {"jardim2021/literature", "jardim2021/local-searches"} <= {*tables}
    assert offered(text, "islands", "reproduce", "x")[0] == "xavier2019"
    assert offered(text, "islands", "run", "--algorithm", "te") == ["tempering"]
    assert offered(text, "islands", "run", "--migration", "r") == ["ring", "random"]
    assert offered(text, "islands", "tune", "--backend", "c") == ["cpu", "cuda"]
    assert offered(text, "islands", "run", "--algorithm", "=", "te") == ["tempering"]
    assert offered(text, "islands", "run", "--backend", "=")[:3] == ["auto", "cpu", "cuda"]
    assert offered(text, "islands", "reproduce", "x", "--only", "national/z") == ["national/zi929"]
    assert offered(text, "islands", "completion", "") == ["bash", "zsh", "fish", "national.tsp"]
    assert offered(text, "islands", "tune", "--out", "") == ["national.tsp"]
    assert offered(text, "islands", "tune", "--seed", "") == []
    for option in ("--stop", "--over", "--set"):
        assert "national.tsp" not in offered(text, "islands", "tune", option, "")
    assert offered(text, "islands", "run", "--stop", "b") == ["best-known"]
    assert offered(text, "islands", "run", "--stop", "se") == ["seconds="]
    assert offered(text, "islands", "run", "--set", "migration.de") == ["migration.delay="]
    assert offered(text, "islands", "tune", "--over", "rh") == ["rho="]
    assert offered(text, "islands", "status", "solu") == []


def test_help_names_the_values_of_options() -> None:
    helps = {option: words for each in ("tune", "run") for option, words in options_of(each)}
    assert {*VALUES} - {*helps} == {"--topology"}
    for option in {*VALUES} & {*helps}:
        assert all(value in helps[option] for value in VALUES[option])


def test_other_shells_have_the_same_commands(capsys: Any) -> None:
    assert script("zsh", capsys).endswith(script("bash", capsys))
    fish = script("fish", capsys)
    for name in COMMANDS:
        assert f"-n __fish_use_subcommand -a {name} " in fish
    run = "complete -c islands -n '__fish_seen_subcommand_from run'"
    assert f"{run} -l seed -d " in fish
    assert f"{run} -l backend -x -a 'auto cpu cuda' -d " in fish
    assert f"{run} -l stop -x -a 'generations= seconds= " in fish
    assert f"{run} -a 'demo/" in fish


def test_an_unknown_shell_is_refused(capsys: Any) -> None:
    assert main(["completion", "bsh"]) == 2
    assert "unknown shell 'bsh'. Did you mean 'bash'?" in capsys.readouterr().err
