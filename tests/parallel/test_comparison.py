"""Ranks that run another program are rejected; the environment of MPI before it starts."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from jobs import PROGRAM, ran

import islands
from islands.errors import UsageError
from islands.parallel import differences, library
from islands.testing.ranks import on_ranks

ROOT = Path(islands.__file__).parents[1]


def found(*facts: dict[str, Any]) -> str:
    """Return the differences between ranks with these facts, the same on all ranks."""
    said = on_ranks(len(facts), lambda world: differences(world, facts[world.rank], ", at 4"))
    assert len(set(said)) == 1
    return re.sub(r"host [^\s,]+", "host X", said[0])


def test_ranks_with_the_same_facts_are_alike() -> None:
    assert found({"a": 1, "b": {"c": b"x"}}, {"a": 1, "b": {"c": b"x"}}) == ""


def test_each_difference_is_shown_with_the_ranks_and_their_hosts() -> None:
    assert found(
        {"a": b"1", "b": 5}, {"a": b"1", "b": 5}, {"a": b"2", "b": 6}, {"a": b"2", "b": 7}
    ) == (
        "ranks 2, 3 of 4 differ from rank 0 in a and b (6 instead of 5 on rank 2)"
        " [rank 0: host X, at 4; rank 2: host X, at 4; rank 3: host X, at 4]"
    )
    many = [{"s": {str(i): i + rank for i in range(99)}} for rank in range(9)]
    assert len(found(*many)) < 1000


def copied(folder: Path) -> Path:
    for name in ("islands", "kernels", "instances"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    return folder


@pytest.mark.slow
def test_ranks_of_another_program_end_before_anything_is_written(
    tmp_path: Path, mpirun: list[str]
) -> None:
    other = copied(tmp_path / "other")

    def run() -> subprocess.CompletedProcess[str]:
        line = [*PROGRAM, "run", "demo/qap", "--backend", "cpu"]
        line += ["--stop", "generations=5", "--out", "out"]
        first = [*mpirun, "1", "-x", f"PYTHONPATH={ROOT}", *line]
        second = [":", "-n", "1", "-x", f"PYTHONPATH={other}", *line]
        return ran(*first, *second, cwd=tmp_path, env=os.environ | {"PYTHONSAFEPATH": "1"})

    with (other / "kernels/core/streams.cuh").open("a") as stream:
        stream.write("// another comment\n")
    done = run()
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("islands: ") == 1
    assert "rank 1 of 2 differs from rank 0 in the kernels [rank 0: host " in done.stderr
    assert f", {other}/islands]. All ranks must run the same program:" in done.stderr
    shutil.copy(ROOT / "kernels/core/streams.cuh", other / "kernels/core/streams.cuh")
    version = other / "islands/__init__.py"
    version.write_text(version.read_text().replace(islands.__version__, "0.0.7"))
    done = run()
    assert done.returncode == 2
    assert f"0.0.7 instead of {islands.__version__}) and the sources of islands" in done.stderr
    assert not (tmp_path / "out").exists()


LAYER, TRANSPORTS = "OMPI_MCA_pml", "OMPI_MCA_btl"


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what is loaded, on a machine with a GPU and the wheels, before MPI starts."""
    done = list[str]()
    ucx = SimpleNamespace(load_library=lambda: done.append("ucx"))
    for name in ("_has_gpu", "_is_from_wheel"):
        monkeypatch.setattr(library, name, lambda: True)
    monkeypatch.setattr(library, "find_spec", lambda _: object())
    monkeypatch.setitem(sys.modules, "libucx", ucx)
    monkeypatch.delitem(sys.modules, "mpi4py.MPI", raising=False)
    for name in (
        LAYER,
        TRANSPORTS,
        "OMPI_MCA_opal_common_ucx_tls",
        "OMPI_MCA_opal_common_ucx_devices",
    ):
        monkeypatch.setenv(name, "")  # so that it is as before at the end
        monkeypatch.delenv(name)
    return done


@pytest.mark.parametrize(
    ("chosen", "has_started", "is_loaded", "layer"),
    [(None, False, True, "ucx,ob1"), (None, True, False, None), ("ob1", False, False, "ob1")],
)
def test_ucx_is_loaded_before_mpi_starts_unless_another_layer_is_chosen(
    chosen: str | None,
    has_started: bool,
    is_loaded: bool,
    layer: str | None,
    loads: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if has_started:
        monkeypatch.setitem(sys.modules, "mpi4py.MPI", SimpleNamespace())
    if chosen is not None:
        monkeypatch.setenv(LAYER, chosen)
    library.prepare()
    assert (loads, os.environ.get(LAYER)) == (["ucx"] * is_loaded, layer)


@pytest.mark.usefixtures("loads")
@pytest.mark.parametrize(
    ("given", "is_from_wheel", "used"),
    [(None, True, "^ofi"), ("tcp,self", True, "tcp,self"), (None, False, None)],
)
def test_a_slow_transport_for_messages_that_nobody_sends_is_left_out(
    monkeypatch: pytest.MonkeyPatch, given: str | None, is_from_wheel: bool, used: str | None
) -> None:
    monkeypatch.setattr(library, "_is_from_wheel", lambda: is_from_wheel)
    if given is not None:
        monkeypatch.setenv(TRANSPORTS, given)
    library.prepare()
    assert os.environ.get(TRANSPORTS) == used


@pytest.mark.usefixtures("loads")
def test_a_ucx_that_does_not_load_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OSError("libuct.so: undefined symbol")

    monkeypatch.setitem(sys.modules, "libucx", SimpleNamespace(load_library=fail))
    with pytest.raises(UsageError, match="OMPI_MCA_pml=ob1"):
        library.prepare()
