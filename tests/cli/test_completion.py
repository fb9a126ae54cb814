"""The scripts for shells offer the commands and their options."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

import pytest

from islands.cli import COMMANDS, main


def script(shell: str, capsys: Any) -> str:
    assert main(["completion", shell]) == 0
    text: str = capsys.readouterr().out
    return text


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


def test_other_shells_have_the_same_commands(capsys: Any) -> None:
    assert script("zsh", capsys).endswith(script("bash", capsys))
    fish = script("fish", capsys)
    for name in COMMANDS:
        assert f"-n __fish_use_subcommand -a {name} " in fish
    assert "complete -c islands -n '__fish_seen_subcommand_from run' -l seed " in fish


def test_an_unknown_shell_is_refused(capsys: Any) -> None:
    assert main(["completion", "bsh"]) == 2
    assert "unknown shell 'bsh'. Did you mean 'bash'?" in capsys.readouterr().err
