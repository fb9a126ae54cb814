"""Compiling: once per program, with errors that name the fix."""

import csv
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from programs_for_tests import SCAN
from quick_compiler import in_scripts
from scripts_for_tests import script

from islands.backends import choose
from islands.backends.base import Backend, Block
from islands.backends.cpu import CpuBackend
from islands.backends.source import Source
from islands.errors import CompileError, UnwritableError


def programs(cache: Path) -> list[Path]:
    """Return all files of compiled programs in a cache."""
    return [path for path in (cache / "programs").rglob("*") if path.is_file()]


def broken(tmp_path: Path) -> Source:
    part = tmp_path / "broken.cuh"
    names = ("no_such_name", "nor_this")
    lines = [f"__device__ int f_{name}() {{ return {name}; }}" for name in names]
    part.write_text("#pragma once\n" + "\n".join(lines) + "\n", encoding="utf-8")
    parts = [f"ISLANDS_{part}" for part in ("ENCODING", "PROBLEM", "IMPROVER", "ALGORITHM")]
    return Source("program.cuh", dict.fromkeys(parts, f'"{part}"'))


def test_a_program_is_compiled_once_for_all_processes(backend: Backend, fresh_cache: Path) -> None:
    backend.compile(SCAN, Block(128))
    (compiled,) = programs(fresh_cache)
    before = compiled.stat().st_mtime_ns
    choose(backend.name).compile(SCAN, Block(128))
    assert [path.stat().st_mtime_ns for path in programs(fresh_cache)] == [before]


def use_compiler(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """Let programs be compiled by `path`, with the options of other tests."""
    _, *options = shlex.split(os.environ.get("CXX", "c++"))
    monkeypatch.setenv("CXX", shlex.join([str(path), *options]))
    choose("cpu").compile(SCAN, Block())


def test_a_link_to_the_compiler_is_the_same_compiler(
    fresh_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose("cpu").compile(SCAN, Block())
    (compiled,) = programs(fresh_cache)
    name, *_ = shlex.split(os.environ.get("CXX", "c++"))
    link = tmp_path / Path(name).name
    link.symlink_to(str(shutil.which(name)))
    use_compiler(monkeypatch, link)
    assert programs(fresh_cache) == [compiled]


def test_another_compiler_of_the_same_version_compiles_anew(
    fresh_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compilers = [tmp_path / folder / "compiler" for folder in ("a", "b")]
    for each in compilers:
        each.parent.mkdir()
        each.write_text('#!/bin/sh\nexec c++ "$@"\n')
        each.chmod(0o755)
        os.utime(each, (1, 1))
        use_compiler(monkeypatch, each)
    assert len(programs(fresh_cache)) == 2
    os.utime(each, (2, 2))  # as if it had been edited or installed again
    use_compiler(monkeypatch, each)
    assert len(programs(fresh_cache)) == 3


def test_a_compile_error_shows_the_first_error_and_the_path_of_the_log(
    backend: Backend, fresh_cache: Path, tmp_path: Path
) -> None:
    with pytest.raises(CompileError) as caught:
        backend.compile(broken(tmp_path), Block(128))
    message = str(caught.value)
    assert "\n" not in message
    assert "broken.cuh" in message
    assert "no_such_name" in message
    assert "nor_this" not in message
    log = Path(message.partition("full log: ")[2].rstrip(")"))
    assert "nor_this" in log.read_text(encoding="utf-8")
    assert [path.suffix for path in programs(fresh_cache)] == [".log"]


def test_a_compiler_gets_its_whole_source_on_a_busy_machine(
    fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    communicate, begun = subprocess.Popen.communicate, set[int]()

    def late(
        process: subprocess.Popen[str], given: str | None = None, timeout: float | None = None
    ) -> tuple[str, str]:
        """Let the first call with a timeout end before it has sent or read anything."""
        if timeout is not None and process.pid not in begun:
            begun.add(process.pid)
            timeout = -1
        return communicate(process, given, timeout)

    monkeypatch.setattr(subprocess.Popen, "communicate", late)
    choose("cpu").compile(SCAN, Block())
    assert len(programs(fresh_cache)) == 1


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Return a function that writes a compiler, whose shell script ends in the usual compiler."""

    def write(text: str) -> Path:
        path = tmp_path / "compiler"
        version = '[ "$1" != --version ] || { echo 1; exit; }'
        path.write_text(f'#!/bin/sh\n{version}\n{text}\nexec {in_scripts()} "$@"\n')
        path.chmod(0o755)
        monkeypatch.setenv("CXX", str(path))
        return path

    return write


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let temporary files be written to an empty folder, and return it."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


@pytest.mark.usefixtures("fresh_cache")
def test_a_killed_compiler_leaves_no_temporary_files(
    compiler: Callable[[str], Path], temporary: Path
) -> None:
    compiler('echo text >"${TMPDIR:-/tmp}/left.s"; kill -KILL $$')
    with pytest.raises(CompileError, match="status -9"):
        choose("cpu").compile(SCAN, Block())
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(("step", "place"), [("*", "temporary"), ("*.so", "cache/programs")])
def test_a_full_disk_is_named(
    step: str,
    place: str,
    compiler: Callable[[str], Path],
    temporary: Path,
    fresh_cache: Path,
    tmp_path: Path,
) -> None:
    """Objects are written to the folder for temporary files, and the program to the cache."""
    compiler(f'case "$*" in {step}) echo "a: No space left on device"; exit 1; esac')
    with pytest.raises(UnwritableError, match="No space left on device") as caught:
        choose("cpu").compile(SCAN, Block())
    assert str(caught.value).startswith(str(tmp_path / place))


@pytest.mark.usefixtures("fresh_cache")
def test_a_compiler_reports_errors_in_english(
    compiler: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line with the error could not be found in another language."""
    monkeypatch.setenv("LANGUAGE", "de")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    compiler(
        'case "${LANGUAGE:-$LC_ALL}" in de*) word=Fehler;; *) word=error;; esac;'
        ' printf "In a.cuh:\\na.cuh:1: $word: 7 is no name\\n"; exit 1'
    )
    with pytest.raises(CompileError, match="7 is no name"):
        choose("cpu").compile(SCAN, Block())


@pytest.mark.usefixtures("fresh_cache")
def test_a_compile_error_may_contain_any_bytes(compiler: Callable[[str], Path]) -> None:
    compiler("printf 'a.cuh:1: error: f\\374r is no name\\n'; exit 1")
    with pytest.raises(CompileError, match="r is no name"):
        choose("cpu").compile(SCAN, Block())


@pytest.mark.usefixtures("fresh_cache")
def test_a_compiler_that_is_removed_during_a_run_is_named(
    compiler: Callable[[str], Path],
) -> None:
    path, backend = compiler(""), choose("cpu")
    path.unlink()
    with pytest.raises(CompileError, match=str(path)):
        backend.compile(SCAN, Block())


def test_compilers_without_output_fail(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "true")
    with pytest.raises(CompileError, match=r"/true reported success .* no program\. Set CXX to"):
        choose("cpu").compile(SCAN, Block())
    assert programs(fresh_cache) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wanted", "level"), [("c++", "-O3"), ("c++ -O1", "-O1"), ("c++ -DANY -Os", "-Os")]
)
def test_the_compiler_may_name_the_level_of_optimisation(
    wanted: str, level: str, fresh_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = tmp_path / "compiler"
    compiler.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/options\nexec c++ "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", wanted.replace("c++", str(compiler)))
    choose("cpu").compile(SCAN, Block())
    used = (tmp_path / "options").read_text().splitlines()[-1].split()
    assert [word for word in used if word.startswith("-O")] == [level]


_FOLDER = Path(__file__).parents[1]
_DIGESTS = script(_FOLDER / "digests")
_ALGORITHMS = ("brkga", "de", "ga", "cellular", "pso", "memetic", "tempering", "eax")


@pytest.mark.slow
@pytest.mark.usefixtures("optimised")
@pytest.mark.parametrize("algorithm", _ALGORITHMS)
def test_results_with_the_usual_optimisation_are_the_recorded_ones(algorithm: str) -> None:
    assert not CpuBackend(1)._has_level
    with (_FOLDER / "digests.csv").open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if f"--algorithm {algorithm} " in row["run"]]
    assert _DIGESTS.digest(rows[0]["run"], "cpu", 1) == rows[0]["digest"]
