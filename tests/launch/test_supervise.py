"""launch/supervise: when and how it restarts a job, and when it ends."""

from __future__ import annotations

import fcntl
import os
import shlex
import signal
import subprocess
import termios
import time
from pathlib import Path
from typing import Any

import pytest
from fake_machine import Machine

# It records its call and ends as in the next line of `plan`: STATUS [FILE TO WRITE]...
MPIRUN = """#!/bin/sh
printf '<%s>' "$@" >>launches
echo >>launches
read -r status files <plan
sed 1d plan >rest
cat rest >plan
for file in $files; do
    mkdir -p "${file%/*}"
    echo >"$file"
done
exit "$status"
"""
# It waits for signals, like a job that writes a checkpoint at a signal.
PATIENT = """#!/bin/sh
trap 'echo USR1 >>heard; exit 75' USR1
trap 'echo INT >>heard' INT
echo >started
while :; do sleep 0.05; done
"""
STUBBORN = """#!/bin/sh
trap 'echo USR1 >>heard' USR1
trap 'echo TERM >>heard; exit 1' TERM
echo >started
while :; do sleep 0.05; done
"""


class Supervised(Machine):
    """A machine whose mpirun ends as planned; scripts run in `folder`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.add("mpirun", MPIRUN)
        for tool in ("find", "mktemp", "uname"):
            self.link(tool)

    def supervise(
        self, *arguments: str, plan: list[str], **variables: str
    ) -> subprocess.CompletedProcess[str]:
        (self.folder / "plan").write_text("".join(f"{line}\n" for line in plan))
        return self.run("launch/supervise", *arguments, **variables)

    def launches(self) -> list[list[str]]:
        """Return the arguments of each mpirun without the name of the Python."""
        lines = (self.folder / "launches").read_text().splitlines()
        words = [line.removeprefix("<").removesuffix(">").split("><") for line in lines]
        return [[*each[:2], *each[5:]] for each in words]


@pytest.fixture
def machine(tmp_path: Path) -> Supervised:
    return Supervised(tmp_path)


def test_a_successful_run_starts_once(machine: Supervised) -> None:
    (machine.folder / "a run").mkdir()
    (machine.folder / "a run/solution.parquet").touch()
    done = machine.supervise("4", "demo/tsp", "--out", "a run", plan=["0"])
    assert (done.returncode, done.stderr) == (0, "")
    assert machine.launches() == [["-n", "4", "run", "demo/tsp", "--out", "a run"]]


def test_a_restart_has_one_rank_fewer(machine: Supervised) -> None:
    options = ["--out", "r", "--stop", "generations=5", "--threads", "2", "--json", "--backend=cpu"]
    plan = ["137 r/run.toml", "139", "0 r/solution.parquet"]
    done = machine.supervise("3", "demo/tsp", *options, plan=plan)
    assert done.returncode == 0
    later = ["resume", "r", "--threads", "2", "--json", "--backend=cpu"]
    assert machine.launches() == [
        ["-n", "3", "run", "demo/tsp", *options],
        ["-n", "2", *later],
        ["-n", "1", *later],
    ]
    first, second = done.stderr.splitlines()
    assert first.startswith(str(machine.checkout / "launch/supervise"))
    assert "the job of 3 ranks died (status 137: killed by signal 9); restart 1 of 3: " in first
    assert first.endswith("mpirun -n 2 islands resume 'r' '--threads' '2' '--json' '--backend=cpu'")
    assert "the job of 2 ranks died (status 139: killed by signal 11); restart 2 of 3" in second


def test_the_number_of_ranks_is_kept_on_request_and_never_0(machine: Supervised) -> None:
    plan = ["137 r/run.toml", "137", "137", "75"]
    assert machine.supervise("-k", "2", "--out=r", plan=plan).returncode == 75
    assert [call[1] for call in machine.launches()] == ["2", "2", "2", "2"]
    (machine.folder / "launches").unlink()
    assert machine.supervise("2", "--out=r", plan=plan).returncode == 75
    assert [call[1] for call in machine.launches()] == ["2", "1", "1", "1"]


@pytest.mark.parametrize("status", [1, 2, 66, 75, 127, 130, 213])
def test_other_statuses_end_it(machine: Supervised, status: int) -> None:
    done = machine.supervise("2", "--out", "r", plan=[f"{status} r/run.toml"])
    assert done.returncode == status
    assert len(machine.launches()) == 1
    assert "died" not in done.stderr


@pytest.mark.parametrize("asked", [["--help"], ["resume", "-h"], ["demo/tsp", "--out=r", "-h"]])
def test_help_comes_from_islands_and_creates_no_folder(
    machine: Supervised, asked: list[str]
) -> None:
    done = machine.supervise("2", *asked, plan=["0"])
    assert (done.returncode, done.stderr) == (0, "")
    line = asked if asked[0] == "resume" else ["run", *asked]
    assert machine.calls("-m islands") == [f"-m islands {' '.join(line)}"]
    assert not (machine.folder / "launches").exists()
    assert not (machine.folder / "runs").exists()


def test_its_own_help(machine: Supervised) -> None:
    for word in ("-h", "--help"):
        done = machine.supervise("-k", word, plan=["0"])
        assert (done.returncode, done.stderr) == (0, "")
        assert "launch/supervise [-r RESTARTS] [-k] [-H FILE] RANKS resume DIR" in done.stdout
        assert "#" not in done.stdout
        assert "set -eu" not in done.stdout
        assert done.stdout.startswith("Runs islands under mpirun")


def test_it_stops_after_the_maximum_number_of_restarts(machine: Supervised) -> None:
    done = machine.supervise("-r", "1", "4", "--out", "r", plan=["137 r/run.toml", "134"])
    assert done.returncode == 134
    assert len(machine.launches()) == 2
    words = "the job of 3 ranks died (status 134: killed by signal 6), and the restart limit (1)"
    assert f"{words} is reached. Continue with: islands resume r\n" in done.stderr


def test_a_status_of_0_without_a_result_is_a_death(machine: Supervised) -> None:
    """Open MPI returns 0 if the daemon of another host is lost."""
    done = machine.supervise("2", "--out", "r", plan=["0 r/run.toml", "0 r/solution.parquet"])
    assert done.returncode == 0
    assert "died (status 0, but without a result: a host was lost); restart 1" in done.stderr
    assert machine.launches()[1] == ["-n", "1", "resume", "r"]


def test_output_of_a_dying_mpirun_does_not_mix_with_the_object(machine: Supervised) -> None:
    machine.add("mpirun", MPIRUN.replace("exit", 'echo "output of $status"\nexit'))
    plan = ["137 r/run.toml", "0 r/solution.parquet"]
    done = machine.supervise("2", "--out", "r", "--json", plan=plan)
    assert done.stdout == "output of 0\n"
    assert "output of 137\n" in done.stderr
    done = machine.supervise("2", "--out", "r", plan=plan)
    assert done.stdout == "output of 137\noutput of 0\n"


def test_lost_hosts_are_excluded(machine: Supervised) -> None:
    machine.add("ssh", '#!/bin/sh\necho "$*" >>asked\ncase $* in *"lost true"*) exit 255 ;; esac\n')
    (machine.folder / "hosts").write_text("# ours\nlost slots=4\n\nalpha slots=2\nbeta\n")
    machine.add("mpirun", MPIRUN.replace("printf", 'cat "$2" >>seen\nprintf', 1))
    plan = ["255 r/run.toml", "137", "0 r/solution.parquet"]
    done = machine.supervise("-H", "hosts", "7", "--out", "r", plan=plan)
    assert done.returncode == 0, done.stderr
    lines = (machine.folder / "launches").read_text().splitlines()
    assert lines[0].startswith("<--hostfile><hosts><-n><7>")
    assert [line.split("><")[3] for line in lines] == ["7", "3", "2"]
    living = "alpha slots=2\nbeta \n"
    assert (machine.folder / "seen").read_text().endswith(living + living)
    asked = (machine.folder / "asked").read_text().splitlines()
    assert asked[:3] == [
        f"-o BatchMode=yes -o ConnectTimeout=10 {host} true" for host in ("lost", "alpha", "beta")
    ]
    assert (
        "the job of 7 ranks died (status 255: a host cannot be reached); restart 1" in done.stderr
    )
    machine.add("ssh", "#!/bin/sh\nexit 255\n")
    done = machine.supervise("-H", "hosts", "7", "--out", "r", plan=plan)
    assert done.returncode == 1
    assert "no host of hosts answers to: ssh -o BatchMode=yes" in done.stderr


def test_a_run_that_dies_before_writing_its_settings_starts_again(machine: Supervised) -> None:
    done = machine.supervise("2", "--out", "r", plan=["137", "0 r/solution.parquet"])
    assert done.returncode == 0
    assert machine.launches()[1] == ["-n", "1", "run", "--out", "r"]


def test_the_settings_of_an_earlier_run_are_not_resumed(machine: Supervised) -> None:
    (machine.folder / "r").mkdir()
    (machine.folder / "r/run.toml").touch()
    plan = ["137", "137 r/run.toml", "0 r/solution.parquet"]
    done = machine.supervise("2", "--out", "r", "--force", plan=plan)
    assert done.returncode == 0
    assert [call[2] for call in machine.launches()] == ["run", "run", "resume"]


def test_resume_keeps_all_its_options(machine: Supervised) -> None:
    (machine.folder / "r").mkdir()
    (machine.folder / "r/run.toml").touch()
    options = ["--stop", "generations=9", "--quiet"]
    done = machine.supervise("2", "resume", "r", *options, plan=["137", "0 r/solution.parquet"])
    assert done.returncode == 0
    assert machine.launches()[1] == ["-n", "1", "resume", "r", *options]


def test_a_new_folder_is_created_and_named(machine: Supervised) -> None:
    first = machine.supervise("2", "it's", "", plan=["1"])
    second = machine.supervise("2", plan=["1"])
    folders = [call[-1] for call in machine.launches()]
    assert machine.launches()[0][2:5] == ["run", "it's", ""]
    assert folders[0] != folders[1]
    for folder, done in zip(folders, (first, second), strict=True):
        assert (machine.folder / folder).is_dir()
        assert f"the run's folder is {folder}\n" in done.stderr


def test_the_launcher_and_the_python_can_be_named(machine: Supervised) -> None:
    machine.add("srun", f"#!/bin/sh\nexec '{machine.bin}/mpirun' srun \"$@\"\n")
    machine.add("python9", (machine.bin / "python3").read_text())
    machine.supervise(
        "2", "--out", "r", plan=["1"], ISLANDS_MPIRUN="srun  --mpi=pmix", PYTHON="python9"
    )
    call = (machine.folder / "launches").read_text()
    expected = f"<srun><--mpi=pmix><-n><2><{machine.bin}/python9><-m><islands><run><--out><r>\n"
    assert expected in call


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_a_signal_lets_the_job_write_its_checkpoint(
    machine: Supervised, sent: signal.Signals
) -> None:
    machine.add("mpirun", PATIENT)
    running = start(machine)
    running.send_signal(sent)
    _, said = running.communicate(timeout=30)
    assert running.returncode == 75
    assert (machine.folder / "heard").read_text() == "USR1\n"
    assert "died" not in said


def test_a_second_signal_ends_the_job_at_once(machine: Supervised) -> None:
    machine.add("mpirun", STUBBORN)
    running = start(machine)
    running.send_signal(signal.SIGTERM)
    heard = machine.folder / "heard"
    wait_for(heard)
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=30)
    assert running.returncode == 1
    assert heard.read_text() == "USR1\nTERM\n"


def test_ctrl_c_does_not_reach_the_job(machine: Supervised) -> None:
    """An mpirun that receives it would kill the ranks while they write."""
    machine.add("mpirun", PATIENT)
    terminal, end = os.openpty()
    running = start(machine, stdin=end, start_new_session=True, preexec_fn=take_terminal)
    os.write(terminal, b"\x03")
    assert running.wait(timeout=30) == 75
    assert (machine.folder / "heard").read_text() == "USR1\n"
    os.close(terminal)
    os.close(end)


def take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def start(machine: Supervised, **how: Any) -> subprocess.Popen[str]:
    """Return the script with its job running."""
    running = subprocess.Popen(
        [str(machine.checkout / "launch/supervise"), "2", "--out", "r"],
        env={"PATH": str(machine.bin), "CALLS": "calls"},
        cwd=machine.folder,
        stderr=subprocess.PIPE,
        text=True,
        **how,
    )
    wait_for(machine.folder / "started")
    return running


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < deadline, f"no {path}"
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "'' is not a number of ranks. Write: "),
        ("0", "'0' is not a number of ranks. Write: "),
        ("demo/tsp", "'demo/tsp' is not a number of ranks. Write: "),
        ("-r many 2", "-r many: must be a whole number, such as -r 3"),
        ("-r", "-r : must be a whole number, such as -r 3"),
        ("-H nosuch 2", "-H nosuch: no such file, or not readable"),
        ("2 resume", "resume needs the folder of a run: "),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(machine: Supervised, line: str, message: str) -> None:
    failed = machine.run("launch/supervise", *shlex.split(line))
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr.startswith(f"{machine.checkout / 'launch/supervise'}: {message}")
    assert failed.stderr.count("\n") == 1
