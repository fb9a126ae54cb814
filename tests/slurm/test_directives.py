"""The options of sbatch: from site.env, the command line and the scripts."""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands_for_tests import Capture, Patch
from jobs import ran
from private_slurm import SCRIPTS

from islands.cli import main
from islands.cli.job import add_submit
from islands.errors import InputError, UsageError
from islands.studies.clusters.submit import Gpus, directives_from, directives_of, script
from islands.studies.clusters.sweep import read_list


def directives(*options: str, on_cpu: bool = False, **of_site: str) -> dict[str, str]:
    """Return the directives of a job with these options, at a site with these directives."""
    parser = argparse.ArgumentParser()
    add_submit(parser)
    site = {name.replace("_", "-"): value for name, value in of_site.items()}
    return directives_from(parser.parse_args(options), site, on_cpu=on_cpu)


@pytest.mark.parametrize(
    ("options", "of_site", "gpus", "ranks"),
    [
        ([], {}, "1", "1"),
        (["--gpus-per-node", "a100:4"], {}, "a100:4", "4"),
        ([], {"gpus_per_node": "a100:4"}, "a100:4", "4"),
        (["--gpus-per-node", "2"], {"gpus_per_node": "a100:4"}, "a100:2", "2"),
        ([], {"gres": "gpu:a100:4"}, "a100:4", "4"),
        ([], {"gres": "gpu"}, "1", "1"),
        (["--nodes", "2"], {"gpus": "8"}, "4", "4"),
        ([], {"gres": "gpu:4,nvme:1"}, "4", "4"),
    ],
)
def test_the_gpus_of_a_site_and_a_user_become_one_option(
    options: list[str], of_site: dict[str, str], gpus: str, ranks: str
) -> None:
    found = directives(*options, **of_site)
    assert (found["gpus-per-node"], found["ntasks-per-node"]) == (gpus, ranks)
    assert not {"gpus", "gpus-per-task"} & found.keys()
    assert found.get("gres") == ("nvme:1" if "nvme" in str(of_site) else None)
    for text in ("", "a100:", "4:a100", "a100:4:2", "-1"):
        with pytest.raises(ValueError, match="such as 4 or a100:4"):
            Gpus.parse(text)


@pytest.mark.parametrize(
    ("options", "of_site", "signal"),
    [
        (["--time", "1h"], {}, "B:USR1@120"),
        ([], {"time": "4"}, "B:USR1@60"),
        (["--sbatch", "time=1:00"], {"time": "4"}, "B:USR1@15"),
        (["--time", "1h"], {"signal": "B:USR1@300"}, "B:USR1@300"),
    ],
)
def test_the_notice_before_the_time_limit_fits_any_limit(
    options: list[str], of_site: dict[str, str], signal: str
) -> None:
    assert directives(*options, on_cpu=True, **of_site)["signal"] == signal


def test_a_site_is_read_without_the_variables_of_the_user(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    monkeypatch.setenv("SBATCH_PARTITION", "mine")
    site = tmp_path / "site.env"
    site.write_text("export SBATCH_TIMELIMIT=60 SBATCH_NO_REQUEUE=1 SBATCH_DEBUG=1 SBATCH_FOO=1\n")
    assert directives_of(site) == {"time": "60", "no-requeue": ""}
    written = script("run", directives_of(site), ["demo/tsp"], site, tmp_path)
    assert "#SBATCH --no-requeue\n" in written
    assert "--requeue\n" not in written.replace("--no-requeue", "")


def program(path: Path, body: str = "") -> None:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


class Direct:
    """The batch scripts, run directly with an sbatch that prints its options."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(SCRIPTS, folder / "slurm")
        program(folder / "sbatch", 'echo "$@"')
        self.environment = {"PATH": f"{folder}:/usr/bin:/bin"}

    def __call__(self, name: str, *words: str) -> subprocess.CompletedProcess[str]:
        return ran(f"slurm/{name}.sbatch", *words, cwd=self.folder, env=self.environment)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("site", "ranks"),
    [
        ("", 1),
        ("export SBATCH_GPUS_PER_NODE=4", 4),
        ("export SBATCH_GPUS_PER_NODE=a100:2", 2),
        ("export SBATCH_GRES=gpu:a100:4", 4),
        ("export SBATCH_GPUS_PER_NODE=a100", 1),
    ],
)
def test_a_script_that_submits_itself_requests_a_rank_for_each_gpu(
    tmp_path: Path, site: str, ranks: int
) -> None:
    direct = Direct(tmp_path)
    (tmp_path / "slurm/site.env").write_text(site + "\n")
    for name in ("run", "scaling"):
        printed = direct(name, "demo/tsp").stdout
        assert printed == f"--ntasks-per-node={ranks} slurm/{name}.sbatch demo/tsp\n"
    assert f"--ntasks-per-node={ranks} " in direct("sweep", "demo/tsp").stdout


@pytest.mark.slow
def test_a_sweep_that_submits_itself_counts_the_lines_with_options(tmp_path: Path) -> None:
    direct = Direct(tmp_path)
    (tmp_path / "sweep.txt").write_text("# three runs\n\ndemo/tsp\n  #\n\t\n demo/qap\ndemo/mkp")
    assert direct("sweep", "sweep.txt").stdout.startswith("--array=1-3 ")
    assert direct("sweep", "demo/tsp").stdout.startswith("--array=1-10 ")
    for words in ([], ["no.txt"]):
        assert direct("sweep", *words).returncode == 2


SITE = "touch sourced\nexport SBATCH_PARTITION=of-the-site\n"


def test_a_site_with_line_ends_of_windows_is_rejected(tmp_path: Path) -> None:
    """The job would be in a partition whose name ends in a carriage return."""
    site = tmp_path / "site.env"
    site.write_bytes(b"export SBATCH_PARTITION=gpu\r\n")
    with pytest.raises(InputError) as caught:
        directives_of(site)
    subprocess.run(["sh", "-c", str(caught.value).partition("with: ")[2]], check=True)
    assert directives_of(site) == {"partition": "gpu"}


@pytest.mark.parametrize(
    "place", ["site.env", pytest.param("slurm/site.env", marks=pytest.mark.slow)]
)
def test_only_a_site_that_the_user_has_chosen_is_sourced(
    tmp_path: Path, monkeypatch: Patch, capsys: Capture, place: str
) -> None:
    """The current folder may be the received folder of a run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # without sbatch
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.delenv("ISLANDS_SITE", raising=False)
    own = tmp_path / "settings/islands/site.env"
    for path in (Path(place), own):
        path.parent.mkdir(exist_ok=True, parents=True)
    Path(place).write_text(SITE)
    line = ["submit", "demo/tsp", "--backend", "cpu", "--dry-run"]

    def sourced(*more: str) -> str:
        """Return the file that was sourced as the script has it, or nothing."""
        Path("sourced").unlink(missing_ok=True)
        assert main([*line, *more]) == 0
        printed = capsys.readouterr()
        (site,) = re.findall(r"export ISLANDS_SITE=(.*)", printed.out)
        assert Path("sourced").exists() == ("of-the-site" in printed.out)
        return site if Path("sourced").exists() else ""

    assert sourced() == ""
    assert sourced("--site", place) == str(tmp_path / place)
    own.write_text(SITE)
    assert sourced() == str(own)
    monkeypatch.setenv("ISLANDS_SITE", place)
    assert sourced() == str(tmp_path / place)
    monkeypatch.setenv("ISLANDS_SITE", "missing.env")
    assert main(line) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["run", "sweep", "scaling"])
@pytest.mark.parametrize("is_known", [True, False])
def test_a_batch_script_sources_the_site_next_to_itself(
    tmp_path: Path, name: str, is_known: bool
) -> None:
    direct = Direct(tmp_path)
    script = tmp_path / f"slurm/{name}.sbatch"
    (tmp_path / "slurm/site.env").write_text("touch own\n")
    (tmp_path / "site.env").write_text("touch foreign\n")
    program(tmp_path / "scontrol", f"echo 'Command={script}'" if is_known else "")
    program(tmp_path / "python")
    direct.environment["SLURM_JOB_ID"] = "1"
    done = direct(name)
    assert done.returncode == 0
    assert (str(tmp_path / "slurm/site.env") in done.stderr) == is_known
    assert (tmp_path / "own").exists() == is_known
    assert not (tmp_path / "foreign").exists()


def test_a_notice_that_the_batch_script_does_not_receive_is_rejected() -> None:
    for signal in ("USR1@5", "R:USR1@5", "B:TERM@60", "B:USR1@"):
        for options, of_site in (([f"--sbatch=signal={signal}"], {}), ([], {"signal": signal})):
            with pytest.raises(UsageError, match="Write signal=B:USR1@SECONDS"):
                directives(*options, on_cpu=True, **of_site)
    for signal in ("B:USR1@5", "B:SIGUSR1", "RB:USR1@60", "b:usr1@9"):
        assert directives(f"--sbatch=signal={signal}", on_cpu=True)["signal"] == signal


@pytest.mark.slow
@pytest.mark.parametrize("template", ["run", "sweep", "scaling"])
def test_a_submitted_script_does_not_submit_itself(tmp_path: Path, template: str) -> None:
    path = tmp_path / "job.sbatch"
    path.write_text(script(template, {}, ["demo/tsp"], tmp_path / "site.env", tmp_path))
    program(tmp_path / "sbatch", "echo submitted")
    for shell in ("sh", "bash"):
        done = ran(shell, path, env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
        assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("text", ["a\ntouch owned", "a\r\nb", "a\x1b[2J", "a\udcff"])
def test_a_line_break_never_reaches_a_script(
    tmp_path: Path, text: str, monkeypatch: Patch, capsys: Capture
) -> None:
    site = tmp_path / "site.env"
    for name, arguments in {
        "--comment": ({"comment": text}, [], site, tmp_path),
        "the working directory": ({"chdir": f"/{text}"}, [], site, tmp_path),
        "--out": ({}, [], site, tmp_path / text),
        "--site": ({}, [], tmp_path / text, tmp_path),
        "the option": ({}, [text], site, tmp_path),
    }.items():
        with pytest.raises(UsageError, match=rf"^{name} '.*contains a line break.* choose another"):
            script("run", *arguments)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/bin")  # without sbatch
    line = ["submit", "demo/tsp", "--backend", "cpu", "--array", "1-2", "--dry-run"]
    assert main([*line, "--mutation", text]) == 2
    assert "contains a line break" in capsys.readouterr().err
    monkeypatch.setattr(sys, "executable", text)
    with pytest.raises(UsageError, match=r"^the path of Python 'a"):
        script("run", {}, [], site, tmp_path)


def test_nothing_in_the_path_of_python_is_executed(tmp_path: Path, monkeypatch: Patch) -> None:
    place = tmp_path / """$(touch owned)`touch owned`';touch owned;'}";touch owned;\\"""
    place.mkdir()
    python = place / "python"
    program(python, 'printf \'%s\\n\' "$PYTHON" "$@"')
    monkeypatch.setattr(sys, "executable", str(python))
    site = tmp_path / "site.env"
    site.write_text("")
    path = tmp_path / "job.sbatch"
    path.write_text(script("run", {"comment": "$(touch owned)"}, ["$(touch owned)"], site, place))
    environment = {"PATH": "/usr/bin:/bin", "SLURM_JOB_ID": "1"}
    done = ran("bash", path, cwd=tmp_path, env=environment, check=True)
    lines = done.stdout.splitlines()
    assert lines[-6:] == [str(python), "-P", "-m", "islands.cli.job", "run", "$(touch owned)"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [place.name, "job.sbatch", "site.env"]
    )


def test_only_a_line_feed_ends_a_line_of_options(tmp_path: Path) -> None:
    path = tmp_path / "sweep.txt"
    path.write_text("demo/tsp --out 'a\u2028b\x0bc'\r\n\n# none\ndemo/qap")
    assert read_list(path) == [["demo/tsp", "--out", "a\u2028b\x0bc"], ["demo/qap"]]
