"""The Slurm cluster of these tests."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands_of_slurm import Commands
from private_slurm import NoSlurmError, PrivateSlurm, User


@pytest.fixture(scope="session")
def cluster() -> Iterator[PrivateSlurm]:
    """Yield a cluster of two nodes; skip the test, with the reason, if Slurm cannot start."""
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        try:
            slurm = PrivateSlurm(Path(folder))
        except NoSlurmError as error:
            pytest.skip(f"no private Slurm here: {error}")
        with slurm:
            yield slurm


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """Return replacements of the commands of Slurm, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return Commands(tmp_path / "commands", monkeypatch)


@pytest.fixture
def user(cluster: PrivateSlurm, tmp_path: Path) -> Iterator[User]:
    """Yield a user of the cluster with an empty folder; show what jobs printed if a test fails."""
    yield User(cluster, tmp_path)
    for path in sorted(tmp_path.rglob("*.out")):
        print(f"== {path.relative_to(tmp_path)}", path.read_text(errors="replace"), sep="\n")
