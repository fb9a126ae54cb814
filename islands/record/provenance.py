"""The origin of measurements: the date, the commit, and the versions of packages."""

import hashlib
import json
import platform
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import islands
from islands.inside import inside
from islands.paths import data_folder, publish

_PACKAGES = ("numpy", "scipy", "pyarrow", "mpi4py", "cupy-cuda13x", "cupy-cuda12x")
_HERE = Path(islands.__file__).resolve().parent
_EVIDENCE = ":(top,exclude)tests/evidence.json"
"""The record of the tests, which a commit cannot contain before they have run."""


def provenance() -> dict[str, Any]:
    """Return the date, the version, the commit, and the versions of packages."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "islands": islands.__version__,
        **commit(),
        "versions": versions(),
    }


def write_provenance(path: Path, origin: Mapping[str, Any]) -> None:
    """Write the origin of the tables in a folder."""
    publish(inside(path.parent, path.name), json.dumps(origin) + "\n")


def commit() -> dict[str, Any]:
    """Return the commit of the checkout of this package, and whether files differ from it.

    Both are None outside of a checkout.
    """
    try:
        # The package may be installed inside another checkout.
        is_ours = _git("ls-files", "__init__.py") == "__init__.py"
    except OSError:  # git is not installed
        is_ours = False
    if not is_ours:
        return {"commit": None, "changed": None}
    changes = _git("status", "--porcelain", "--untracked-files=no", "--", ":(top)", _EVIDENCE)
    return {"commit": _git("rev-parse", "HEAD"), "changed": bool(changes)}


@cache
def sources() -> str:
    """Return the SHA-256 of the files of the package, the kernels and the instances."""
    total = hashlib.sha256()
    for root in (_HERE, *map(data_folder, ("kernels", "instances"))):
        for path in sorted(filter(Path.is_file, root.rglob("*"))):
            name = path.relative_to(root)
            if not {"__pycache__", "_data"} & {*name.parts}:
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                total.update(f"{root.name}/{name.as_posix()} {content}\n".encode())
    return total.hexdigest()


def versions(packages: tuple[str, ...] = _PACKAGES) -> dict[str, str]:
    """Return the versions of Python and of those packages that are installed."""
    return {"python": platform.python_version(), **_package_versions(packages)}


@cache  # Python reads all metadata of the packages, and a run stores versions in several files
def _package_versions(packages: tuple[str, ...]) -> dict[str, str]:
    installed = {}
    for package in packages:
        with suppress(PackageNotFoundError):
            installed[package] = version(package)
    return installed


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=_HERE, capture_output=True, text=True, check=False)
    return done.stdout.strip()
