"""Which MPI library there is."""

from __future__ import annotations

from islands.errors import UsageError
from islands.parallel.launcher import launched


def vendor() -> tuple[str, str] | None:
    """Return the MPI's name with its version, and what it says of itself; None without mpi4py."""
    try:
        import mpi4py
    except ImportError:
        return None
    if launched()[1] == 1:
        # To be asked for its name, MPI need not be started.
        mpi4py.rc.initialize = False
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise UsageError(
            f"mpi4py finds no MPI library ({error}). Install one, for example with:"
            " pip install 'islands[mpi]'"
        ) from error
    name, version = MPI.get_vendor()
    own = MPI.Get_library_version().replace("\0", "").strip().splitlines()[0]
    return f"{name} {'.'.join(map(str, version))}", " ".join(own.split())
