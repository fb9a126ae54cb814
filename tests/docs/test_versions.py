"""The site of all versions: a folder for each, and a list of them that the pages show."""

from __future__ import annotations

import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest
from pages import ROOT

import islands

SCRIPT = ROOT / "docs" / "site" / "publish"


@pytest.fixture
def publish() -> ModuleType:
    loader = SourceFileLoader("publish", str(SCRIPT))
    spec = importlib.util.spec_from_loader("publish", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def built(folder: Path, text: str) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "index.html").write_text(text, encoding="utf-8")
    return str(folder)


def test_versions_are_listed_by_their_numbers(
    publish: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    assert publish.version == islands.__version__
    for version in ("0.9.0", "0.11.0rc1", "0.10.0", "0.9.1"):
        monkeypatch.setattr(publish, "version", version)
        assert publish.main([str(site), built(tmp_path / "html", version)]) == 0
    listed = (site / "versions.js").read_text(encoding="utf-8")
    assert listed == 'var VERSIONS = ["0.10.0", "0.9.1", "0.9.0", "0.11.0rc1"];\n'
    assert "url=0.10.0/index.html" in (site / "index.html").read_text(encoding="utf-8")
    assert (site / "0.9.0" / "index.html").read_text(encoding="utf-8") == "0.9.0"


def test_a_version_is_replaced(publish: ModuleType, tmp_path: Path) -> None:
    site = tmp_path / "site"
    stale = site / islands.__version__ / "stale.html"
    stale.parent.mkdir(parents=True)
    stale.touch()
    assert publish.main([str(site), built(tmp_path / "html", "new")]) == 0
    assert [path.name for path in stale.parent.iterdir()] == ["index.html"]


def test_without_pages_the_error_says_what_to_run(
    publish: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert publish.main([str(tmp_path / "site"), str(tmp_path)]) == 1
    assert capsys.readouterr().err.endswith("Run docs/site/build first\n")
    assert not (tmp_path / "site").exists()
    assert publish.main([]) == 2
