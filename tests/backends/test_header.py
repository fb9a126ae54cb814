"""Sources of programs: files, and headers given as text, which both compilers accept."""

from pathlib import Path

import numpy as np
import pytest

from islands.backends import choose
from islands.backends import source as module
from islands.backends.base import Backend, Block
from islands.backends.source import Header, Source
from islands.errors import CompileError


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in which main includes a, and b through a macro, and a includes c."""
    (tmp_path / "main.cuh").write_text('#include "a.cuh"\n  #  include PART\n', encoding="utf-8")
    (tmp_path / "a.cuh").write_text('#pragma once\n#include "c.cuh"\n', encoding="utf-8")
    (tmp_path / "b.cuh").write_text('#include "c.cuh"\n#include <cmath>\n', encoding="utf-8")
    (tmp_path / "c.cuh").write_text('#include "a.cuh"\n', encoding="utf-8")
    monkeypatch.setattr(module, "data_folder", lambda name: tmp_path)
    return tmp_path


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


ENTRY = """
#include "core/core.cuh"
#include OWN
KERNEL(twice, (const int32_t* from, int32_t* to)) { to[blockIdx.x] = own::twice(from[blockIdx.x]); }
"""
OWN = "#pragma once\nnamespace own {\n__device__ int twice(int n) { return 2 * n; }\n}\n"


def source(text: str, name: str = "own/twice.cuh") -> Source:
    return Source("entry.cu", {"ENTRY": Header("entry.cu", ENTRY), "OWN": Header(name, text)})


# Some names are also those of standard headers.
@pytest.mark.parametrize("name", ["own/twice.cuh", "vector", "string.h"])
def test_a_program_consists_of_texts_only(backend: Backend, name: str) -> None:
    numbers = backend.upload(np.arange(5, dtype=np.int32))
    doubled = backend.empty((5,), np.int32)
    program = backend.compile(source(OWN, name), Block(32))
    backend.run([backend.call(program, "twice", numbers, doubled, blocks=5)])
    assert backend.download(doubled).tolist() == [0, 2, 4, 6, 8]


def test_an_error_names_the_header_and_its_line(backend: Backend) -> None:
    broken = OWN.replace("return 2 * n;", "return 2 * m;")
    with pytest.raises(CompileError, match=r": own/twice\.cuh[:(]3[:)].*\bm\b"):
        backend.compile(source(broken), Block(32))


def test_an_error_of_nvrtc_names_the_header_and_its_line() -> None:
    pytest.importorskip("cupy")
    from islands.backends.cuda import compiled

    broken = OWN.replace("return 2 * n;", "return 2 * m;")
    compiled(source(OWN), "sm_90", lambda path: path.read_bytes())
    with pytest.raises(CompileError, match=r": own/twice\.cuh\(3\): error: .*\"m\""):
        compiled(source(broken), "sm_90", lambda path: path.read_bytes())


def test_compilation_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    choose("cpu", 1).compile(source(OWN), Block())
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]
