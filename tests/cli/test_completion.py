"""The scripts for shells offer the commands, their options and arguments."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from islands.cli import COMMANDS, main


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


def offered(text: str, lines: list[list[str]]) -> list[list[str]]:
    """Return what bash offers for the last word of each line."""
    code = text
    for words in lines:
        quoted = " ".join(f"'{word}'" for word in ("islands", *words))
        code += f"\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _islands\n"
        code += 'echo "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "-c", code], capture_output=True, text=True, check=True, timeout=20
    )
    return [line.split() for line in done.stdout.splitlines()]


OFFERED = {
    "wat": ["watch"],
    "run --see": ["--seed"],
    "run national/z": ["national/zi929"],
    "run national.": ["national.tsp"],
    "instances fe": ["fetch"],
    "plot a sol": ["solution"],
    "run --algorithm te": ["tempering"],
    "run --algorithm = te": ["tempering"],
    "reproduce x --only national/z": ["national/zi929"],
    "run --stop se": ["seconds="],
    "run --set migration.de": ["migration.delay="],
    "tune --over rh": ["rho="],
    "status solu": [],
}


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_offers_commands_options_and_values(capsys: pytest.CaptureFixture[str]) -> None:
    Path("national.tsp").touch()
    lines = [[""], ["tune", "--seed", ""], *(line.split() for line in OFFERED)]
    commands, seeds, *others = offered(script("bash", capsys), lines)
    assert commands == list(COMMANDS)
    assert seeds == []
    assert dict(zip(OFFERED, others, strict=True)) == OFFERED


def test_other_shells_have_the_same_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert script("zsh", capsys).endswith(script("bash", capsys))
    fish = script("fish", capsys)
    for name in COMMANDS:
        assert f"-n __fish_use_subcommand -a {name} " in fish
    run = "complete -c islands -n '__fish_seen_subcommand_from run'"
    assert f"{run} -l backend -x -a 'auto cpu cuda' -d " in fish
