from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from instance_texts import tsplib_text

from islands import __version__
from islands.algorithms import ALGORITHMS
from islands.cli import COMMANDS, functions_of, main
from islands.configuration.stop import CRITERIA
from islands.encodings import ENCODINGS
from islands.instances.synthetic import uniform_tsp
from islands.migration import TOPOLOGIES
from islands.presets import PRESETS


def test_help_describes_each_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for name in COMMANDS:
        assert f"\n    {name}" in out
    assert main([]) == 0
    assert capsys.readouterr().out == out


@pytest.mark.parametrize(("command", "sentence"), COMMANDS.items())
def test_command_descriptions_equal_docstrings(command: str, sentence: str) -> None:
    _, perform = functions_of(command)
    module = import_module(perform.__module__)
    documented = module if perform.__name__ == "main" else perform
    assert (documented.__doc__ or "").partition("\n")[0] == sentence


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"usage: islands {command}")
    assert "--debug" in out


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"islands {__version__}\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("rnu", "unknown command 'rnu'. Did you mean 'run'?"),
        ("run --populaton 5", "unknown option '--populaton'. Did you mean '--population'?"),
        ("run --pop 5", "unknown option '--pop'."),
        (
            "run --generation 5",
            "unknown option '--generation'. Did you mean '--stop generations=N'?",
        ),
        ("run --seconds 5", "unknown option '--seconds'. Did you mean '--stop seconds=60'?"),
        ("run --n-jobs 5", "unknown option '--n-jobs'. Did you mean '--threads N'?"),
        (
            "run --topology ring",
            "unknown option '--topology'. Did you mean '--migration TOPOLOGY'?",
        ),
        ("run --output first", "unknown option '--output'. Did you mean '--out FOLDER'?"),
        ("run --cycle 5", "unknown option '--cycle'. Did you mean '--set cycle=VALUE'?"),
        ("resume --cycle 5", "unknown option '--cycle'"),
        (
            "run demo/tsp --set generation=5",
            "generation: is not a setting of islands. Write --stop generations=N",
        ),
        (
            "run demo/tsp --set popsize=5",
            "popsize: is not a setting of islands. Write --population N",
        ),
        (
            "run demo/tsp --algorithm ga --set ga.elit=5",
            "unknown setting of ga 'elit'. Did you mean 'elite'?",
        ),
        ("verify a b c", "unexpected 'c'. See islands verify --help"),
        ("run --stop", "argument --stop: expected one argument. See islands run --help"),
        ("verify", "the following arguments are required: INSTANCE, SOLUTION. See islands verify"),
        ("--foo", "unknown option '--foo'."),
        ("run --threads 0", "argument --threads: '0' must be a whole number of at least 1. Leave"),
        ("bench --threads 0", "argument --threads: '0' must be a whole number of at least 1."),
        ("bench --threads two", "argument --threads: 'two' must be a whole number"),
    ],
)
def test_invalid_usage_prints_one_line_and_gives_status_2(
    line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split()) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"islands: {message}")
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_debug_shows_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "nosuch", "--debug"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("Traceback")
    assert err.splitlines()[-1].startswith("islands: unknown instance 'nosuch'")


@pytest.mark.parametrize("command", ["run", "reproduce xavier2019"])
def test_empty_folder_name_is_refused(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command.split(), "--out", ""]) == 2
    assert capsys.readouterr().err.startswith("islands: argument --out: '' is not a folder. Name")


def test_help_lists_all_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--help"]) == 0
    out = capsys.readouterr().out
    for names in (ALGORITHMS, ENCODINGS, TOPOLOGIES, PRESETS, CRITERIA):
        for name in names:
            assert name in out


@pytest.mark.parametrize(
    "command", [["-m", "islands"], ["-c", "from islands.cli import main; raise SystemExit(main())"]]
)
def test_module_is_the_same_as_the_command(command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, *command, "--version"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == f"islands {__version__}\n"


def test_closed_pipe_is_not_reported() -> None:
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


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a shell command in which `islands` is this package."""
    command = f'islands() {{ "{sys.executable}" -m islands "$@"; }}; {line}'
    return subprocess.run(
        ["sh", "-c", command], env={**os.environ, **environment}, capture_output=True, timeout=60
    )


@pytest.mark.parametrize("line", ["islands instances list >&-", "islands --version >&- 2>&-"])
def test_closed_output_is_ignored(line: str) -> None:
    done = shell(line)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")  # noqa: PTH110
@pytest.mark.parametrize(
    ("command", "unbuffered"), [("--version", ""), ("instances list", ""), ("instances list", "1")]
)
def test_full_output_is_reported_once(command: str, unbuffered: str) -> None:
    done = shell(f"islands {command} > /dev/full", PYTHONUNBUFFERED=unbuffered)
    assert done.returncode in (1, 2)
    assert done.stderr.startswith(b"islands: standard output: ")
    assert b"No space left on device. " in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_characters_missing_in_the_output_encoding_are_escaped(tmp_path: Path) -> None:
    for name in (b"caf\xe9.tsp", "café.tsp".encode()):
        path = os.fsdecode(os.path.join(os.fsencode(tmp_path), name))  # noqa: PTH118
        Path(path).write_text(tsplib_text(uniform_tsp(5, seed=1)))
        done = shell(f"islands instances show '{path}'", PYTHONIOENCODING="ascii")
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"caf\\" in done.stdout


def test_invalid_launcher_variables_print_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "x")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    assert main(["run"]) == 2
    assert capsys.readouterr().err.startswith("islands: OMPI_COMM_WORLD_RANK=x: must be a whole")


def test_only_rank_0_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "1")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    for line in (["--help"], ["run", "--foo"], ["verify", "nosuch", "x"]):
        main(line)
        captured = capsys.readouterr()
        assert (captured.out, captured.err) == ("", "")
