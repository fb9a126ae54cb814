"""launch/supervise: its commands, when and how it restarts a job, and when it ends."""

import shlex
from pathlib import Path

import pytest
from fake_machine import Supervised


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
    assert "the job of 3 ranks died (status 137: killed by signal 9); restart 1 of 3: " in first
    assert "the job of 2 ranks died (status 139: killed by signal 11); restart 2 of 3" in second


SOLVED = "0 r/solution.parquet"


@pytest.mark.parametrize(
    ("line", "plan", "launches"),
    [
        ("-k 2 --out=r", ["137 r/run.toml", "137", "75"], ["2 run", "2 resume", "2 resume"]),
        ("2 --out=r", ["137 r/run.toml", "137", "75"], ["2 run", "1 resume", "1 resume"]),
        # Ranks whose messages failed, and a run without settings yet.
        ("3 demo/tsp --out r", ["69", SOLVED], ["3 run", "2 run"]),
        ("2 --out r", ["137", SOLVED], ["2 run", "1 run"]),
        # The settings of an earlier run are not resumed.
        ("2 --out old --force", ["137", "137 old/run.toml", "75"], ["2 run", "1 run", "1 resume"]),
        ("2 resume old --stop generations=9 --quiet", ["137", "75"], ["2 resume", "1 resume"]),
    ],
)
def test_a_restart_resumes_what_this_run_has_written(
    machine: Supervised, line: str, plan: list[str], launches: list[str]
) -> None:
    (machine.folder / "old").mkdir()
    (machine.folder / "old/run.toml").touch()
    done = machine.supervise(*line.split(), plan=plan)
    assert done.returncode == int(plan[-1].split()[0])
    assert [" ".join(call[1:3]) for call in machine.launches()] == launches
    if "resume" in line:
        assert machine.launches()[1][2:] == line.split()[1:]


@pytest.mark.parametrize("status", [1, 2, 66, 75, 127, 130, 213])
def test_other_statuses_end_it(machine: Supervised, status: int) -> None:
    done = machine.supervise("2", "--out", "r", plan=[f"{status} r/run.toml"])
    assert done.returncode == status
    assert len(machine.launches()) == 1
    assert "died" not in done.stderr


def test_it_stops_after_the_maximum_number_of_restarts(machine: Supervised) -> None:
    done = machine.supervise("-r", "1", "4", "--out", "my r", plan=["137 my r/run.toml", "134"])
    assert done.returncode == 134
    assert len(machine.launches()) == 2
    assert "Continue with: islands resume 'my r'\n" in done.stderr


def test_a_status_of_0_without_a_result_is_a_death(machine: Supervised) -> None:
    """Open MPI returns 0 if the daemon of another host is lost."""
    done = machine.supervise("2", "--out", "r", plan=["0 r/run.toml", "0 r/solution.parquet"])
    assert done.returncode == 0
    assert "died (status 0, but without a result: a host was lost); restart 1" in done.stderr
    assert machine.launches()[1] == ["-n", "1", "resume", "r"]


def test_output_of_a_dying_mpirun_does_not_mix_with_the_object(machine: Supervised) -> None:
    planned = (machine.bin / "mpirun").read_text()
    machine.add("mpirun", planned.replace("exit", 'echo "output of $status"\nexit'))
    plan = ["137 r/run.toml", "0 r/solution.parquet"]
    done = machine.supervise("2", "--out", "r", "--json", plan=plan)
    assert done.stdout == "output of 0\n"
    assert "output of 137\n" in done.stderr
    done = machine.supervise("2", "--out", "r", plan=plan)
    assert done.stdout == "output of 137\noutput of 0\n"


def test_lost_hosts_are_excluded(machine: Supervised) -> None:
    machine.add("ssh", '#!/bin/sh\necho "$*" >>asked\ncase $* in *"lost true"*) exit 255 ;; esac\n')
    (machine.folder / "hosts").write_text("# ours\nlost slots=4\n\nalpha slots=2\nbeta\n")
    planned = (machine.bin / "mpirun").read_text()
    machine.add("mpirun", planned.replace("printf", 'cat "$2" >>seen\nprintf', 1))
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
    machine.add("ssh", "#!/bin/sh\nexit 255\n")
    assert machine.supervise("-H", "hosts", "7", "--out", "r", plan=plan).returncode == 1


def test_a_host_file_with_line_ends_of_windows_is_rejected(machine: Supervised) -> None:
    """The job restarted, as the status of an mpirun that cannot parse the file is not known."""
    hosts = machine.folder / "my hosts"
    hosts.write_bytes(b"alpha slots=2\r\n")
    done = machine.supervise("-H", hosts.name, "2", "--out", "r", plan=["250"] * 4)
    assert (done.returncode, (machine.folder / "launches").exists()) == (2, False)
    assert "-H my hosts: has the line ends of Windows. Convert it with: tr" in done.stderr
    assert "tr -d '\\r' <'my hosts' >hosts.unix\n" in done.stderr
    hosts.write_text("alpha slots=2\n")
    done = machine.supervise("-H", hosts.name, "2", "--out", "r", plan=["0 r/solution.parquet"])
    assert done.returncode == 0, done.stderr


def test_a_new_folder_is_created_and_named(machine: Supervised) -> None:
    first = machine.supervise("2", "it's", "", plan=["1"])
    second = machine.supervise("2", plan=["1"])
    folders = [call[-1] for call in machine.launches()]
    assert machine.launches()[0][2:5] == ["run", "it's", ""]
    assert folders[0] != folders[1]
    for folder, done in zip(folders, (first, second), strict=True):
        assert (machine.folder / folder).is_dir()
        assert f"the run's folder is {folder}\n" in done.stderr


def test_wrong_usage_is_one_line_and_status_2(machine: Supervised) -> None:
    for line in ("", "0", "demo/tsp", "-r many 2", "-r", "-H nosuch 2", "2 resume"):
        failed = machine.run("launch/supervise", *shlex.split(line))
        assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (2, "", 1), line


def test_the_launcher_and_the_python_can_be_named(machine: Supervised) -> None:
    machine.add("srun", f"#!/bin/sh\nexec '{machine.bin}/mpirun' srun \"$@\"\n")
    machine.add("python9", (machine.bin / "python3").read_text())
    named = {"ISLANDS_MPIRUN": "srun  --mpi=pmix", "PYTHON": "python9"}
    machine.supervise("2", "--out", "r", plan=["1"], **named)
    call = (machine.folder / "launches").read_text()
    assert f"<srun><--mpi=pmix><-n><2><{machine.bin}/python9><-P><-m><islands><run><--out>" in call
