"""The wheel, and environments that hold only the wheel and its dependencies."""

import subprocess
import sys
import sysconfig
import tarfile
import venv
from pathlib import Path

import pytest

from islands import __version__ as version

ROOT = Path(__file__).parents[2]


def build(source: Path, target: str, place: Path) -> Path:
    """Build the sdist or the wheel of a folder, and return it."""
    line = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(place)]
    subprocess.run(line, cwd=source, check=True, capture_output=True, timeout=120)
    (built,) = place.glob(f"islands-{version}*")
    return built


def wheel_of_sdist(place: Path) -> Path:
    """Return the wheel that is built of the sdist alone, as `python -m build` does."""
    pytest.importorskip("hatchling", reason="hatchling builds the wheel")
    with tarfile.open(build(ROOT, "sdist", place / "sdist")) as archive:
        # Python 3.11.0 to 3.11.3 have no filters.
        archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
        archive.extractall(place)
    return build(place / f"islands-{version}", "wheel", place / "wheel")


def environment(place: Path, wheel: Path, *without: str) -> Path:
    """Return the Python of an environment with the wheel and its dependencies."""
    pytest.importorskip("pip", reason="pip installs the wheel")
    venv.create(place, symlinks=True)
    python = place / "bin" / "python"
    line = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    line += ["--no-deps", "--no-index", str(wheel)]
    subprocess.run(line, check=True, capture_output=True, timeout=120)
    (packages,) = place.glob("lib/python*/site-packages")
    # The dependencies are those that are here, but not the package of this checkout.
    for name in ("purelib", "platlib"):
        for each in Path(sysconfig.get_path(name)).iterdir():
            if each.suffix != ".pth" and not any(w in each.name for w in ("islands", *without)):
                link = packages / each.name
                link.exists() or link.symlink_to(each)
    return python
