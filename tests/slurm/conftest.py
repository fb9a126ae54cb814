"""The Slurm cluster that these tests submit to."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from private_slurm import NoSlurmError, PrivateSlurm


@pytest.fixture(scope="session")
def cluster() -> Iterator[PrivateSlurm]:
    """Two nodes; a test that needs them skips where Slurm cannot be started, and says why."""
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        try:
            slurm = PrivateSlurm(Path(folder))
        except NoSlurmError as error:
            pytest.skip(f"no private Slurm here: {error}")
        with slurm:
            yield slurm
