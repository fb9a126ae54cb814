"""Sources of programs: the files that they include, and their digest."""

from __future__ import annotations

from pathlib import Path

import pytest

from islands.backends import source as module
from islands.backends.source import Source


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in which main includes a, and b through a macro, and a includes c."""
    (tmp_path / "main.cuh").write_text('#include "a.cuh"\n  #  include PART\n', encoding="utf-8")
    (tmp_path / "a.cuh").write_text('#pragma once\n#include "c.cuh"\n', encoding="utf-8")
    (tmp_path / "b.cuh").write_text('#include "c.cuh"\n#include <cmath>\n', encoding="utf-8")
    (tmp_path / "c.cuh").write_text('#include "a.cuh"\n', encoding="utf-8")
    monkeypatch.setattr(module, "data_folder", lambda name: tmp_path)
    return tmp_path


def test_files_are_all_direct_and_indirect_includes(kernels: Path) -> None:
    names = Source("main.cuh", {"PART": '"b.cuh"'}).files()
    assert names == ["main.cuh", "a.cuh", "b.cuh", "c.cuh"]


def test_the_digest_depends_on_every_file_and_macro(kernels: Path) -> None:
    source = Source("main.cuh", {"PART": '"b.cuh"'})
    digests = {source.digest(), source.digest("sm_90")}
    digests.add(Source("main.cuh", {"PART": '"b.cuh"', "N": "1"}).digest())
    digests.add(Source("main.cuh", {"PART": '"a.cuh"'}).digest())
    for name in ("main.cuh", "a.cuh", "b.cuh", "c.cuh"):
        with (kernels / name).open("a", encoding="utf-8") as file:
            file.write("// changed\n")
        digests.add(source.digest())
    assert len(digests) == 8
    assert source.digest() in digests
