"""The scripts meet machines made of stand-ins: a few real tools and pretended programs."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    "launch/environment",
    "launch/quickstart",
    "tests/run",
    ".ci/run",
    "pyproject.toml",
]
TOOLS = ["sh", "dirname", "date", "cksum", "awk", "tail", "grep", "rm", "tr", "mkdir", "cp"]

# It notes its calls, makes a .venv of copies of itself, and fails where the pattern $BREAK fits.
PYTHON = """#!/bin/sh
echo "$*" >>"$CALLS"
case $* in
    *${BREAK:-nothing}*)
        echo "${TROUBLE:-}"
        [ -z "${KILL:-}" ] || kill -9 $$
        exit 1 ;;
esac
case $* in
    -V) echo "Python 3.11.9" ;;
    "-m venv "*)
        for folder; do :; done
        rm -rf "$folder"
        mkdir -p "$folder/bin"
        cp "$0" "$folder/bin/python"
        case $* in *--without-pip*) echo >"$folder/bin/no-pip" ;; esac ;;
    "-c import pip") [ ! -e "${0%/*}/no-pip" ] ;;
    *getDeviceCount*) echo "$GPUS" ;;
    *sys.executable*) echo "$0" ;;
    *pytest*) echo "PYTHONPATH=${PYTHONPATH:-}"; echo "== 7 passed in 0.1s ==" ;;
esac
"""
# It says with what it was called, and calls it.
MPIRUN = """#!/bin/sh
printf '<%s>' mpirun "$1" "$2"
shift 3
printf '<%s>' "$@"
echo
"""


@dataclass
class Machine:
    """A machine with a checkout, whose programs are the files in `bin`."""

    folder: Path

    def __post_init__(self) -> None:
        self.checkout = self.folder / "a checkout"
        self.bin = self.folder / "bin"
        self.bin.mkdir(parents=True)
        for name in FILES:
            target = self.checkout / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target)
        for tool in TOOLS:
            path = shutil.which(tool)
            assert path is not None
            (self.bin / tool).symlink_to(path)
        self.add("python3", PYTHON)
        self.add("c++", "#!/bin/sh\n")
        self.add("mpirun", MPIRUN)

    def add(self, name: str, text: str) -> None:
        program = self.bin / name
        program.write_text(text)
        program.chmod(0o755)

    def add_driver(self, words: str) -> None:
        self.add("nvidia-smi", f"#!/bin/sh\necho '{words}'\n")

    def run(
        self, script: str, *arguments: str, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": str(self.bin), "CALLS": str(self.folder / "calls"), "GPUS": "0"}
        return subprocess.run(
            [str(self.checkout / script), *arguments],
            env=environment | variables,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def calls(self, start: str) -> list[str]:
        calls = self.folder / "calls"
        lines = calls.read_text().splitlines() if calls.exists() else []
        return [line for line in lines if line.startswith(start)]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_quickstart_installs_once_and_hands_its_arguments_on(machine: Machine) -> None:
    first = machine.run("launch/quickstart", "demo/tsp", "--set", "a=b  c")
    second = machine.run("launch/quickstart")
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    command = "<mpirun><-n><2><-m><islands><run>"
    assert first.stdout == f"{command}<demo/tsp><--set><a=b  c>\n"
    assert second.stdout == f"{command}\n"
    assert len(machine.calls("-m venv")) == 1
    assert [line[-6:] for line in machine.calls("-m pip install")] == [".[mpi]"]


def test_a_changed_pyproject_is_installed_again_into_the_same_venv(machine: Machine) -> None:
    machine.run("launch/quickstart")
    with (machine.checkout / "pyproject.toml").open("a") as file:
        file.write("# changed\n")
    machine.run("launch/quickstart")
    assert len(machine.calls("-m venv")) == 1
    assert len(machine.calls("-m pip install")) == 2


def test_a_killed_install_is_not_taken_for_a_whole_one(machine: Machine) -> None:
    killed = machine.run("launch/quickstart", BREAK="pip install", KILL="yes")
    after = machine.run("launch/quickstart")
    assert killed.returncode != 0
    assert killed.stdout == ""
    assert after.returncode == 0
    assert len(machine.calls("-m venv")) == 2


def test_a_moved_checkout_gets_a_new_venv(machine: Machine) -> None:
    machine.run("launch/quickstart")
    machine.checkout = machine.checkout.rename(machine.folder / "moved")
    assert machine.run("launch/quickstart").returncode == 0
    assert len(machine.calls("-m venv")) == 2


def test_a_python_without_ensurepip_installs_with_its_own_pip(machine: Machine) -> None:
    done = machine.run("launch/quickstart", BREAK="venv --clear /")
    assert done.returncode == 0, done.stderr
    (install,) = machine.calls("-m pip")
    assert install.startswith(f"-m pip --python {machine.checkout}/.venv/bin/python install")


def test_no_network(machine: Machine) -> None:
    trouble = "ERROR: No matching distribution found for hatchling"
    failed = machine.run("launch/quickstart", BREAK="pip install", TROUBLE=trouble)
    assert failed.returncode == 1
    assert trouble in failed.stderr
    assert "pip could not reach its package index" in failed.stderr.splitlines()[-1]
    assert machine.run("launch/quickstart").returncode == 0


@pytest.mark.parametrize("script", ["launch/quickstart", "tests/run"])
@pytest.mark.parametrize(
    ("missing", "variables", "message"),
    [
        ("python3", {}, "no Python >= 3.11 found"),
        ("", {"BREAK": "version_info"}, "no Python >= 3.11 found (python3: Python 3.11.9)"),
        ("", {"PYTHON": "/no/python"}, "PYTHON=/no/python is not a Python >= 3.11"),
        ("", {"BREAK": "import [ep]"}, "python3 has neither ensurepip nor pip"),
        ("c++", {}, "no C++ compiler found (tried c++ g++ clang++): install one"),
        ("", {"CXX": "nosuch++"}, "no C++ compiler found (tried nosuch++)"),
    ],
)
def test_what_a_machine_lacks_is_named_in_one_line(
    machine: Machine, script: str, missing: str, variables: dict[str, str], message: str
) -> None:
    if missing:
        (machine.bin / missing).unlink()
    failed = machine.run(script, **variables)
    assert failed.returncode == 1
    assert failed.stdout == ""
    last = failed.stderr.splitlines()[-1]
    assert last.startswith(f"{machine.checkout / script}: {message}")


def test_no_mpirun(machine: Machine) -> None:
    (machine.bin / "mpirun").unlink()
    failed = machine.run("launch/quickstart")
    assert failed.returncode == 1
    assert "no mpirun found: install Open MPI" in failed.stderr.splitlines()[-1]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_checkout_of_somebody_else(machine: Machine) -> None:
    machine.checkout.chmod(0o555)
    failed = machine.run("launch/quickstart")
    machine.checkout.chmod(0o755)
    assert f"cannot write {machine.checkout}" in failed.stderr


@pytest.mark.parametrize(
    ("driver", "extras"),
    [
        ("580.159.03, 9.0", "mpi,cuda13"),
        ("610.10, 12.0", "mpi,cuda13"),
        ("575.57.08, 9.0", "mpi,cuda12"),
        ("580.159.03, 7.0", "mpi,cuda12"),
        ("470.82.01, 8.0", "mpi"),
        ("NVIDIA-SMI has failed because it could not communicate with the driver", "mpi"),
    ],
)
def test_cupy_matches_the_driver(machine: Machine, driver: str, extras: str) -> None:
    machine.add_driver(driver)
    machine.run("launch/quickstart")
    (install,) = machine.calls("-m pip install")
    assert install.endswith(f" .[{extras}]")


def test_one_rank_a_gpu_and_no_compiler_needed(machine: Machine) -> None:
    machine.add_driver("580.159.03, 9.0")
    (machine.bin / "c++").unlink()
    assert "<mpirun><-n><3>" in machine.run("launch/quickstart", GPUS="3").stdout


def test_a_driver_without_a_gpu_is_said(machine: Machine) -> None:
    machine.add_driver("580.159.03, 9.0")
    done = machine.run("launch/quickstart", BREAK="getDeviceCount")
    assert "<mpirun><-n><2>" in done.stdout
    assert "CUDA shows no GPU: running on the CPU" in done.stderr


def test_another_driver_gets_a_venv_without_the_other_cupy(machine: Machine) -> None:
    for driver in ("575.57.08, 9.0", "580.159.03, 9.0"):
        machine.add_driver(driver)
        machine.run("launch/quickstart")
    assert len(machine.calls("-m venv")) == 2


def test_run_ends_in_the_closing_line_of_pytest(machine: Machine) -> None:
    done = machine.run("tests/run", "-k", "ring")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "== 7 passed in 0.1s =="
    assert machine.calls("-m pytest") == ["-m pytest -k ring"]
    assert "<mpirun><-n><3><-m><pytest><--only-mpi><-m><mpi><-x><-k><ring>" in done.stdout
    assert machine.calls("-m pip install")[0].endswith(".[mpi,cuda13,test]")


@pytest.mark.parametrize(
    ("broken", "name"),
    [("ruff check", "ruff check"), ("mypy", "mypy"), ("-m pytest", "pytest")],
)
def test_run_fails_where_one_check_fails(machine: Machine, broken: str, name: str) -> None:
    failed = machine.run("tests/run", BREAK=broken)
    assert failed.returncode == 1
    assert failed.stdout.splitlines()[-1].startswith(f"==== failed: {name}, in ")
    assert len(machine.calls("-m pytest")) == 1


def test_run_fails_where_a_rank_fails(machine: Machine) -> None:
    machine.add("mpirun", "#!/bin/sh\nexit 5\n")
    failed = machine.run("tests/run")
    assert "==== failed: pytest on 3 ranks, in " in failed.stdout
    assert machine.run("tests/run", "-k", "no_test_of_ranks").returncode == 0


def test_nothing_is_installed_on_request(machine: Machine) -> None:
    for arguments, variables in ((["--no-install"], {}), ([], {"ISLANDS_NO_INSTALL": "1"})):
        done = machine.run("tests/run", *arguments, **variables)
        assert done.returncode == 0
        assert f"PYTHONPATH={machine.checkout}\n" in done.stdout
    assert not machine.calls("-m pip")
    assert not (machine.checkout / ".venv").exists()


def test_tools_that_are_not_there_are_left_out_only_on_request(machine: Machine) -> None:
    (machine.bin / "mpirun").unlink()
    left = machine.run("tests/run", "--no-install", BREAK="ruff")
    assert left.returncode == 0
    assert left.stdout.count("== left out, since this does not work here: ") == 2
    failed = machine.run("tests/run", BREAK="ruff")
    assert failed.returncode == 1


def test_continuous_integration_installs_a_compiler_as_root(machine: Machine) -> None:
    compiler = machine.bin / "c++"
    compiler.unlink()
    machine.add("id", "#!/bin/sh\necho 0\n")
    copy = f"cp '{machine.bin}/mpirun' '{compiler}'"
    machine.add("apt-get", f"#!/bin/sh\ncase $* in *g++) {copy} ;; esac\n")
    done = machine.run(".ci/run")
    assert done.returncode == 0, done.stderr
    compiler.unlink()
    machine.add("id", "#!/bin/sh\necho 1000\n")
    assert "no C++ compiler found" in machine.run(".ci/run").stderr
