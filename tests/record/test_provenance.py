"""The facts about what made a file of measurements."""

import shutil
import subprocess
from pathlib import Path

import pytest

from islands.record import provenance as module
from islands.record.provenance import commit, sources


def git(*words: str, folder: Path) -> str:
    line = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a small checkout, which is taken for the one of the package."""
    if shutil.which("git") is None:
        pytest.skip("no git found")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    git("init", "-q", folder=tmp_path)
    monkeypatch.setattr(module, "_HERE", tmp_path / "package")
    return tmp_path


@pytest.mark.slow
def test_the_commit_is_that_of_the_package(checkout: Path) -> None:
    assert commit() == {"commit": None, "changed": None}  # the checkout of somebody else
    git("add", ".", folder=checkout)
    git("commit", "-qm", "first", folder=checkout)
    head = git("rev-parse", "HEAD", folder=checkout).strip()
    assert commit() == {"commit": head, "changed": False}
    (checkout / "untracked").touch()
    assert commit()["changed"] is False
    (checkout / "package" / "__init__.py").write_text("changed")
    assert commit() == {"commit": head, "changed": True}


def test_the_digest_of_the_sources_covers_all_files_that_results_depend_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = {name: tmp_path / name for name in ("islands", "kernels", "instances")}
    monkeypatch.setattr(module, "_HERE", folders["islands"])
    monkeypatch.setattr(module, "data_folder", folders.get)

    def digest_with(path: Path, text: str) -> str:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        sources.cache_clear()
        return sources()

    own = [folder / "core" / "a" for folder in folders.values()]
    seen = [digest_with(path, text) for text in "ab" for path in own]
    assert len({*seen}) == len(seen)
    for name in ("__pycache__", "_data"):
        assert digest_with(folders["islands"] / name / "a", "c") == seen[-1]
    sources.cache_clear()
