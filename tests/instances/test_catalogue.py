from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from islands.errors import UsageError
from islands.instances.catalogue import catalogue


@pytest.mark.parametrize(
    ("name", "size", "value", "status"),
    [
        ("tsplib/berlin52", 52, 7542, "optimal"),
        ("tsplib/pla7397", 7397, 23260728, "optimal"),
        ("national/zi929", 929, 95345, "optimal"),
        ("national/sw24978", 24978, 855597, "optimal"),
        ("vlsi/xqf131", 131, 564, "optimal"),
        ("vlsi/xrh24104", 24104, 69294, "best_known"),
        ("qaplib/kra32", 32, 88700, "optimal"),
        ("qaplib/esc16f", 16, 0, "optimal"),
        ("qaplib/tai100a", 100, 21044752, "best_known"),
        ("qaplib/tai256c", 256, 44759294, "best_known"),
    ],
)
def test_published_values(name: str, size: int, value: int, status: str) -> None:
    entry = catalogue().entry(*name.split("/"))
    assert entry is not None
    assert entry.best_known is not None
    assert (entry.size, entry.best_known.value, entry.best_known.status) == (size, value, status)


def test_every_entry_is_complete() -> None:
    entries = [entry for each in catalogue().sets.values() for entry in each.entries.values()]
    assert len(entries) == 326
    for entry in entries:
        assert entry.best_known is not None
        assert entry.best_known.value >= 0
        assert entry.best_known.status in ("optimal", "best_known")
        assert entry.best_known.source
        assert entry.problem == ("qap" if entry.file.endswith(".dat") else "tsp")
        assert len(bytes.fromhex(entry.sha256)) == 32


def test_where_files_are_published() -> None:
    tsplib, national = catalogue().set("tsplib"), catalogue().set("national")
    at_heidelberg = "http://comopt.ifi.uni-heidelberg.de/software/TSPLIB95/tsp/att48.tsp.gz"
    assert tsplib.url("att48.tsp") == at_heidelberg
    assert national.url("zi929.tsp") == "https://www.math.uwaterloo.ca/tsp/world/zi929.tsp"
    qaplib = catalogue().set("qaplib")
    assert qaplib.url("nug12.dat") == "https://qaplib.mgi.polymtl.ca/data.d/nug12.dat"
    assert national.url("zi929.tsp", "http://mirror/x/") == "http://mirror/x/zi929.tsp"


def test_an_unknown_set_is_refused() -> None:
    with pytest.raises(UsageError, match=r"unknown set 'tsplip'\. Did you mean 'tsplib'"):
        catalogue().set("tsplip")


@pytest.mark.published
def test_checksums_are_those_of_the_published_files(published: Path) -> None:
    for name in ("tsplib", "national", "vlsi", "qaplib"):
        for entry in catalogue().set(name).entries.values():
            content = (published / name / entry.file).read_bytes()
            assert (entry.bytes, entry.sha256) == (
                len(content),
                hashlib.sha256(content).hexdigest(),
            )
