"""The UCX library and the transports that PyPI's Open MPI is given before it starts."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace

import pytest

from islands.errors import UsageError
from islands.parallel import library

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


def test_ucx_is_loaded_before_mpi_starts(loads: list[str]) -> None:
    library.prepare(fault_tolerant=False)
    assert (loads, os.environ[LAYER]) == (["ucx"], "ucx,ob1")


def test_ucx_is_not_loaded_into_an_mpi_that_has_started(
    loads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", SimpleNamespace())
    library.prepare(fault_tolerant=False)
    assert loads == []
    assert LAYER not in os.environ


def test_a_choice_of_the_layer_is_kept(loads: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LAYER, "ob1")
    library.prepare(fault_tolerant=False)
    assert (loads, os.environ[LAYER]) == ([], "ob1")


@pytest.mark.usefixtures("loads")
@pytest.mark.parametrize(
    ("given", "is_from_wheel", "used"),
    [(None, True, "^ofi"), ("tcp,self", True, "tcp,self"), (None, False, None)],
)
def test_a_slow_transport_for_messages_that_nobody_sends_is_left_out(
    monkeypatch: pytest.MonkeyPatch, given: str | None, is_from_wheel: bool, used: str | None
) -> None:
    monkeypatch.setattr(library, "_is_from_wheel", lambda: is_from_wheel)
    monkeypatch.setattr(library, "outlives_ranks", lambda: True)
    if given is not None:
        monkeypatch.setenv(TRANSPORTS, given)
    for fault_tolerant in (False, True):
        library.prepare(fault_tolerant=fault_tolerant)
        assert os.environ.get(TRANSPORTS) == used


@pytest.mark.usefixtures("loads")
def test_a_ucx_that_does_not_load_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OSError("libuct.so: undefined symbol")

    monkeypatch.setitem(sys.modules, "libucx", SimpleNamespace(load_library=fail))
    with pytest.raises(UsageError, match="OMPI_MCA_pml=ob1"):
        library.prepare(fault_tolerant=False)
