"""The command line: help, closed and full output, completion, and `islands doctor` on ranks."""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands_for_tests import Capture, Patch
from instance_texts import tsplib_text
from jobs import PROGRAM, ran
from synthetic import uniform_tsp

from islands import __version__
from islands.cli import COMMANDS, arguments, main


def test_each_command_has_a_help(capsys: Capture) -> None:
    for command in COMMANDS:
        assert main([command, "--help"]) == 0
        assert capsys.readouterr().out.startswith(f"usage: islands {command}")


def test_the_version_is_printed(capsys: Capture) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"islands {__version__}\n"


def test_debug_shows_a_traceback(capsys: Capture) -> None:
    assert main(["run", "nosuch", "--debug"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("Traceback")
    assert err.splitlines()[-1].startswith("islands: unknown instance 'nosuch'")


def test_closed_pipe_is_not_reported() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as gone:
        command = [*PROGRAM, "instances", "list"]
        done = subprocess.run(command, stdout=gone, stderr=subprocess.PIPE, timeout=60)
    assert (done.returncode, done.stderr) == (1, b"")


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a shell command in which `islands` is this package."""
    command = f'islands() {{ "{sys.executable}" -m islands "$@"; }}; {line}'
    return subprocess.run(
        ["sh", "-c", command], env={**os.environ, **environment}, capture_output=True, timeout=60
    )


@pytest.mark.slow
@pytest.mark.parametrize("line", ["islands instances list >&-", "islands --version >&- 2>&-"])
def test_closed_output_is_ignored(line: str) -> None:
    done = shell(line)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_closed_input_is_empty() -> None:
    closed, empty = (shell(f"islands run - --batch {source}") for source in ("<&-", "</dev/null"))
    assert (closed.returncode, closed.stderr) == (empty.returncode, empty.stderr)


@pytest.mark.slow
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


@pytest.mark.slow
def test_characters_missing_in_the_output_encoding_are_escaped(tmp_path: Path) -> None:
    for name in (b"caf\xe9.tsp", "café.tsp".encode()):
        path = os.fsdecode(os.path.join(os.fsencode(tmp_path), name))  # noqa: PTH118
        Path(path).write_text(tsplib_text(uniform_tsp(5, seed=1)))
        done = shell(f"islands instances show '{path}'", PYTHONIOENCODING="ascii")
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"caf\\" in done.stdout


def test_invalid_launcher_variables_print_one_line(capsys: Capture, monkeypatch: Patch) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "x")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    assert main(["run"]) == 2
    assert capsys.readouterr().err.startswith("islands: OMPI_COMM_WORLD_RANK=x: must be a whole")


def test_only_rank_0_prints(capsys: Capture, monkeypatch: Patch) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "1")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    for line in (["--help"], ["run", "--foo"], ["verify", "nosuch", "x"]):
        main(line)
        captured = capsys.readouterr()
        assert (captured.out, captured.err) == ("", "")


def offered(script: str, words: list[str]) -> list[str]:
    """Return the completions by bash of the last of these words."""
    line = " ".join(["islands", *words])
    function = 'function islands { "$PYTHON" -m islands "$@"; }'
    code = f"""{function}
{script}
COMP_LINE='{line}'; COMP_POINT={len(line)}; COMP_TYPE=9
_python_argcomplete islands
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = ran("bash", "-c", code, check=True, env=os.environ | {"PYTHON": sys.executable})
    return done.stdout.split()


OFFERED = {
    "wat": ["watch"],
    "run --see": ["--seed"],
    "run national/z": ["national/zi929"],
    "run national.": ["national.tsp"],
    "instances fe": ["fetch"],
    "plot a sol": ["solution"],
    "run --algorithm te": ["tempering"],
    "run --algorithm=te": ["tempering"],
    "reproduce x --only national/z": ["national/zi929"],
    "run --stop se": ["seconds="],
    "run --set migration.de": ["migration.delay="],
    "tune --over rh": ["rho="],
    "bench quality --rivals dwave-t": ["dwave-tabu"],
    "status solu": [],
}


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_offers_commands_options_and_values(capsys: Capture) -> None:
    Path("national.tsp").touch()
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    assert offered(script, [""]) == [*COMMANDS]
    assert offered(script, ["tune", "--seed", ""]) == []
    assert {line: offered(script, line.split()) for line in OFFERED} == OFFERED


def test_completion_needs_argcomplete(monkeypatch: Patch, capsys: Capture) -> None:
    monkeypatch.setattr(arguments, "find_spec", lambda _: None)
    assert main(["completion", "bash"]) == 2
    assert capsys.readouterr().err.endswith(": pip install argcomplete\n")


@pytest.mark.slow
def test_json_under_mpirun_lists_all_ranks(mpirun: list[str], monkeypatch: Patch) -> None:
    # Ranks on a machine with one GPU would have to share it.
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    done = ran(*mpirun, "2", *PROGRAM, "doctor", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert [rank["rank"] for rank in report["ranks"]] == [0, 1]
    assert {rank["host"] for rank in report["ranks"]} == {platform.node()}
    for trial in report["transports"]:
        assert (trial["trouble"], len(trial["timings"])) == ("", 4)
    assert report["transports"][-1]["transport"] == "staged"
    assert report["mpi"]["name"]
    assert report["works"] is True
