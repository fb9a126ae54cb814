"""The identity of a run: its settings, its data and the texts of its parts from scripts.

It must be equal on all ranks.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from islands.backends.source import Header
from islands.configuration import messages
from islands.configuration.given import PARTS, of_scripts
from islands.configuration.resolved import Resolved
from islands.errors import UsageError
from islands.migration.topology import Topology
from islands.parallel import World, differences
from islands.problems.base import Problem
from islands.text import option
from islands.untrusted import content_digest

_RANK_SETTINGS = ("backend", "threads")
"""Settings that may differ between ranks, as the result does not depend on them."""
_CHANGEABLE = ("stop", "checkpoint", "instance", "format", "start", "bound")
"""Settings that may change when a run is resumed, for example because files have moved."""


def require_agreement(
    world: World,
    resolved: Resolved,
    *,
    writes: bool,
    folder: Path | None = None,
    asynchronous: bool = False,
) -> None:
    """Reject ranks whose settings, instance data or folder differ from rank 0; collective."""
    if world.size == 1:
        return
    spec, known = resolved.spec, resolved.problem.best_known
    message = differences(
        world,
        {
            "the settings": {k: v for k, v in spec.to_mapping().items() if k not in _RANK_SETTINGS},
            "the settings adjusted to the backend": spec.adjusted.encode(),
            "the data of the instance": _digest_of_data(resolved.problem).encode(),
            "the best known cost": "none" if known is None else f"{known.value} {known.status}",
            "the parts from scripts": content_digest(_parts(resolved)).encode(),
            "whether files are written": writes,
            "the folder of the files": "a new one" if folder is None else str(folder),
            option("async"): asynchronous,
        },
    )
    # All ranks have the same message, so all raise the same error.
    world.run_on_all(lambda: _reject(message))


def identity(resolved: Resolved) -> str:
    """Return a digest of everything that determines the states of a run.

    A run can continue from a checkpoint with the same digest.
    """
    others = (*_RANK_SETTINGS, *_CHANGEABLE)
    settings = {k: v for k, v in resolved.spec.to_mapping().items() if k not in others}
    parts, data = _parts(resolved), _digest_of_data(resolved.problem)
    return content_digest({"settings": settings, "data": data, "parts": parts})


def _reject(difference: str) -> None:
    if difference:
        raise messages.ranks_differ(difference=difference)


def _parts(resolved: Resolved) -> dict[str, str]:
    return {f"{version.part} {version.file}": version.sha256 for version in part_versions(resolved)}


def _digest_of_data(problem: Problem) -> str:
    digest = hashlib.sha256(f"{problem.name} {problem.size} {problem.defines()}".encode())
    for array in problem.arrays():
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


@dataclass(frozen=True)
class PartVersion:
    """The text that identifies the version of a part from a script."""

    part: str
    """The kind and the name of the part, such as `crossover spread`."""
    file: str
    """The name of the header; empty for a topology."""
    text: str
    """The text of the header, or the connections of a topology."""

    @property
    def sha256(self) -> str:
        """The SHA-256 digest of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def part_versions(resolved: Resolved) -> list[PartVersion]:
    """Return the versions of parts from scripts; reject a topology that is not a pure function.

    Two parts may share a header; different headers need different names.
    """
    spec, problem = resolved.spec, resolved.problem
    versions, settings = [_of_header(f"problem {problem.name}", problem)], spec.to_mapping()
    for values in (settings, *settings.get("colony", ())):
        for key, script_part in of_scripts(values).items():
            part, name = script_part.part, f"{PARTS[key].what} {script_part.part.name}"
            versions.append(_of_header(name, part))
            if isinstance(part, Topology) and spec.general.islands > 1:
                connections = part.first_senders(spec.general.islands, spec.general.seed)
                versions.append(PartVersion(name, "", connections))
    by_file: dict[str, PartVersion] = {}
    different = list(dict.fromkeys(filter(None, versions)))  # colonies may share parts
    for version in different:
        first = by_file.setdefault(version.file, version)
        if version.file and first.text != version.text:
            raise UsageError(
                f"{first.part} and {version.part} have different headers with the name"
                f" {version.file!r}. Rename one of them"
            )
    return different


def _of_header(part: str, owner: object) -> PartVersion | None:
    header: Header | None = getattr(owner, "header", None)
    if header is None or header.text is None:
        return None
    return PartVersion(part, header.name, header.text)
