"""Store the inputs of a run in its folder: settings, problem and parts from scripts.

A problem is stored unless an instance file contains it. Since it may contain code, it is signed
with the key of this user on this machine.
"""

import hashlib
import hmac
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from islands.configuration.identity import PartVersion
from islands.configuration.spec import RunSpec
from islands.custom.scripts import is_loaded, is_trusted
from islands.custom.signature import is_signed, sign, signed
from islands.custom.trust import scripts_in, signed_scripts, trust_files
from islands.errors import InputError
from islands.inside import inside, opened
from islands.modelling.model import restored
from islands.paths import publish, published
from islands.problems import restored as restored_data
from islands.problems import saved
from islands.problems.base import Problem
from islands.record import messages
from islands.record.files import TooLargeError, read_arrays
from islands.record.folder import INDEX, PARTS, PROBLEM, RUN_SETTINGS, file_name_of
from islands.untrusted import MISMATCH, bounded_text, parsing, read_toml

_CHECKSUM = "# SHA-256 of the lines above: "
RUN_LINE = "# Identity of the run: "
SIGNATURE_LINE = "# Signature of its problem.npz: "
"""Lines by which files of other runs are detected. The second one is present if the folder contains
the problem."""
_LAST = "checkpoint"
"""The last table in run.toml."""
_SIGNATURE = "signature"
_SIGNED_BYTES, _LONGEST_SIGNATURE = 32, 4096
"""The number of bytes of a signature, and the maximum for its array with the header."""
_HEADER_BYTES = 1 << 12
"""An upper bound on the bytes of an array in a file besides its values."""
_TRUST = "If you created the folder, or trust it, add --trust"


def write_settings(folder: Path, spec: RunSpec, run: str = "", signature: str = "") -> None:
    """Write run.toml with the identity `run` and the signature of the stored problem.

    Settings that name scripts are signed if this process has imported all of them, or if the file
    was signed before: a resumed run may not have imported them, and must not sign those of others.
    """
    path, text = inside(folder, RUN_SETTINGS), spec.to_toml()
    for prefix, digest in ((RUN_LINE, run), (SIGNATURE_LINE, signature)):
        text += f"{prefix}{digest}\n" if digest else ""
    scripts = scripts_in(spec.stored)
    if scripts and (all(map(is_loaded, scripts)) or _is_signed(path)):
        text = signed(text)
    publish(path, f"{text}{_CHECKSUM}{_digest(text)}\n")


def require_intact(folder: Path) -> Path:
    """Return the path of the settings; reject a file whose checksum is wrong.

    The checksum may be missing, as users who change the file on purpose can remove it.
    """
    path = folder / RUN_SETTINGS
    lines, has_checksum, checksum = bounded_text(path).rpartition(_CHECKSUM)
    if has_checksum and checksum.strip() != _digest(lines):
        raise messages.changed_settings(path, MISMATCH)
    if not has_checksum and _LAST not in read_toml(path):
        raise InputError(f"{path}: is truncated: it has no table [{_LAST}]. Restore it")
    return path


def read_settings(folder: Path) -> dict[str, Any]:
    """Return the settings of a run."""
    return read_toml(require_intact(folder))


def _is_signed(path: Path) -> bool:
    return path.exists() and is_signed(bounded_text(path))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def store_problem(folder: Path, problem: Problem) -> None:
    """Write the problem unless an instance file contains it."""
    arrays = saved(problem)
    if arrays:
        signature = np.frombuffer(_signature(arrays), np.uint8)
        with published(inside(folder, PROBLEM)) as temporary, temporary.open("wb") as stream:
            np.savez_compressed(stream, allow_pickle=False, **{_SIGNATURE: signature}, **arrays)


def signature_of(problem: Problem) -> str:
    """Return the signature of a problem that is stored in folders; empty for other problems."""
    arrays = saved(problem)
    return _signature(arrays).hex() if arrays else ""


def stored_signature(folder: Path) -> str:
    """Return the signature stored with the problem in a folder, or an empty string."""
    path = folder / PROBLEM
    with suppress(InputError), parsing(path), opened(path) as stream, ZipFile(stream) as file:
        member = file.getinfo(f"{_SIGNATURE}.npy")
        if member.file_size <= _LONGEST_SIGNATURE:
            return file.read(member)[-_SIGNED_BYTES:].hex()
    return ""


def has_problem(folder: Path) -> bool:
    """Return whether a folder contains the problem of its run."""
    return (folder / PROBLEM).is_file()


def is_stored(folder: Path, problem: Problem) -> bool:
    """Return whether a folder contains exactly this problem."""
    arrays = saved(problem)
    most = sum(array.nbytes + _HEADER_BYTES for array in arrays.values()) + _HEADER_BYTES
    try:
        stored = read_arrays(folder / PROBLEM, "It is another problem", most)
    except TooLargeError:
        return False
    stored.pop(_SIGNATURE, None)
    return stored.keys() == arrays.keys() and all(
        np.array_equal(stored[name], arrays[name]) for name in arrays
    )


def trust_folder(folder: Path) -> None:
    """Trust the code in the folder of a run and the scripts that it names, as the user requests."""
    trust_files({*signed_scripts(folder / RUN_SETTINGS, by_user=True), _code_in(folder)})


def _code_in(folder: Path) -> Path:
    return (folder / PROBLEM).resolve()


def stored_problem(folder: Path) -> Problem:
    """Return the problem stored in a folder; reject code that is neither signed nor trusted."""
    path, trusted = folder / PROBLEM, is_trusted(_code_in(folder))
    arrays = read_arrays(path, _TRUST, sys.maxsize) if trusted else read_arrays(path, _TRUST)
    with parsing(path):
        signature = arrays.pop(_SIGNATURE).tobytes()
    with parsing(path):
        if (data := restored_data(arrays)) is not None:
            return data  # without code
    if not trusted and not hmac.compare_digest(signature, _signature(arrays)):
        raise messages.untrusted_code(path)
    with parsing(path):
        return restored(arrays)


def _signature(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the signature of arrays, which only this user on this machine can compute."""
    content = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        content.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        content.update(array.tobytes())
    return sign(content.digest())


def store_parts(folder: Path, versions: Sequence[PartVersion]) -> None:
    """Write the headers, for users to read, and an index of all parts with their checksums."""
    if not versions:
        return
    index = [
        {"part": version.part, "file": file_name_of(version.file), "sha256": version.sha256}
        for version in versions
    ]
    # The index is written first, as it lists the other files for a later removal.
    publish(inside(folder, PARTS, INDEX), json.dumps(index, indent=1))
    for version in versions:
        if version.file:
            publish(inside(folder, PARTS, file_name_of(version.file)), version.text)


def require_same_parts(folder: Path, versions: Sequence[PartVersion]) -> None:
    """Reject a script whose parts have changed since the run began."""
    index = inside(folder, PARTS, INDEX)
    if not index.exists():  # the run was killed earlier, or has no parts from scripts
        return
    with parsing(index):
        entries = json.loads(bounded_text(index))
        stored = {(entry["part"], entry["file"]): entry["sha256"] for entry in entries}
    now = {(version.part, file_name_of(version.file)): version.sha256 for version in versions}
    before, after = {part for part, _ in stored}, {part for part, _ in now}
    if before != after:
        raise messages.other_parts(folder, before, after)
    for part, file in dict.fromkeys([*stored, *now]):
        if stored.get((part, file)) != now.get((part, file)):
            raise messages.changed_part(folder, part, folder / PARTS / file if file else None)
