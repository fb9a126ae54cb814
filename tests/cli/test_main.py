from __future__ import annotations

import os
import subprocess
import sys

import pytest

from islands import __version__
from islands.cli import COMMANDS, main


def test_each_command_has_its_sentence_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for name in COMMANDS:
        assert f"\n    {name}" in out
    assert main([]) == 0
    assert capsys.readouterr().out == out


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"usage: islands {command}")
    assert "--debug" in out


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"islands {__version__}\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("rnu", "unknown command 'rnu'. Did you mean 'run'?"),
        ("run --populaton 5", "unknown option '--populaton'. Did you mean '--population'?"),
        ("run --pop 5", "unknown option '--pop'."),
        ("run a b", "unexpected 'b'. See islands run --help"),
        ("run --stop", "argument --stop: expected one argument. See islands run --help"),
        ("verify", "the following arguments are required: INSTANCE, SOLUTION. See islands verify"),
        ("--foo", "unknown option '--foo'."),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(
    line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split()) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"islands: {message}")
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_debug_shows_where_an_error_comes_from(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "nosuch", "--debug"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("Traceback")
    assert err.splitlines()[-1].startswith("islands: unknown instance 'nosuch'")


@pytest.mark.parametrize(
    "command", [["-m", "islands"], ["-c", "from islands.cli import main; raise SystemExit(main())"]]
)
def test_the_module_is_the_command(command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, *command, "--version"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == f"islands {__version__}\n"


def test_a_reader_who_leaves_is_no_error_to_speak_of() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as gone:
        done = subprocess.run(
            [sys.executable, "-m", "islands", "instances", "list"],
            stdout=gone,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
    assert done.returncode == 1
    assert done.stderr == b""


def test_ranks_above_the_first_do_not_speak(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "1")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    for line in (["--help"], ["run", "--foo"], ["verify", "nosuch", "x"]):
        main(line)
        captured = capsys.readouterr()
        assert (captured.out, captured.err) == ("", "")
