"""The launchers import nothing from the current folder, which may be somebody else's."""

import os
import sys
from pathlib import Path

import pytest
from fake_machine import ROOT
from jobs import ran

FOREIGN = ["numpy", "pip", "ensurepip", "sysconfig", "cupy", "islands", "tomllib", "argparse"]
RUN = ["demo/tsp", "--backend", "cpu", "--stop", "generations=1", "--quiet", "--out", "run"]
LAUNCHERS = {
    "supervise": [str(ROOT / "launch/supervise"), "1", "--help"],
    "quickstart": [str(ROOT / "launch/quickstart"), "--no-install", "--help"],
    "installation": [
        *("/bin/sh", "-c"),
        'root=$0; . "$0/launch/environment"; find_python; can_install "$python";'
        " (require_zig) || :; venv=${PYTHON%/bin/*}; is_working; run_pip --version",
        str(ROOT),
    ],
    "islands-supervise": [str(Path(sys.executable).with_name("islands-supervise")), "1", *RUN],
}


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_launcher_imports_nothing_from_the_current_folder(tmp_path: Path, launcher: str) -> None:
    line = LAUNCHERS[launcher]
    if not Path(line[0]).exists():
        pytest.skip(f"{line[0]} is not installed")
    folder = tmp_path / "received"
    folder.mkdir()
    for name in FOREIGN:
        (folder / f"{name}.py").write_text(
            f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r})\n"
        )
    mpirun = tmp_path / "bin/mpirun"
    mpirun.parent.mkdir()
    mpirun.write_text('#!/bin/sh\nshift 2\nexec "$@"\n')
    mpirun.chmod(0o755)
    own = {"PATH": f"{mpirun.parent}{os.pathsep}{os.environ['PATH']}", "PYTHON": sys.executable}
    done = ran(*line, cwd=folder, env=os.environ | own)
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()
    assert done.returncode == 0, done.stderr
