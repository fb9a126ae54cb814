from __future__ import annotations

import csv
import hashlib
from pathlib import Path

import pytest

from islands.errors import UsageError
from islands.instances.catalogue import catalogue
from islands.instances.formats import MODELS


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
        ("orlib/mknapcb1-00", 100, 24381, "optimal"),
        ("orlib/mknapcb9-29", 500, 300582, "best_known"),
        ("sac94/hp2", 35, 3186, "optimal"),
        ("sac94/weish30", 90, 11191, "optimal"),
        ("gk/gk07", 500, 19221, "best_known"),
    ],
)
def test_entries_have_the_published_values(name: str, size: int, value: int, status: str) -> None:
    entry = catalogue().entry(*name.split("/"))
    assert entry is not None
    assert entry.best_known is not None
    assert (entry.size, entry.best_known.value, entry.best_known.status) == (size, value, status)


def test_every_entry_is_complete() -> None:
    entries = [entry for each in catalogue().sets.values() for entry in each.entries.values()]
    assert len([each for each in entries if each.set != "demo"]) == 324 + 270 + 54 + 11 + 239
    for entry in entries:
        assert entry.best_known is not None
        assert entry.best_known.value >= 0
        assert entry.best_known.status in ("optimal", "best_known")
        assert entry.best_known.source
        problem = "qap" if entry.file.endswith(".dat") else "tsp"
        if entry.set in ("orlib", "sac94", "gk"):
            problem = "mkp"
        elif entry.set in MODELS:
            problem = entry.set
        elif entry.set == "demo":
            problem = entry.file.partition("/")[0]
        assert entry.problem == problem
        assert (entry.constraints is not None) == (problem == "mkp")
        assert len(bytes.fromhex(entry.sha256)) == 32


def test_addresses_of_published_files() -> None:
    tsplib, national = catalogue().set("tsplib"), catalogue().set("national")
    at_heidelberg = "http://comopt.ifi.uni-heidelberg.de/software/TSPLIB95/tsp/att48.tsp.gz"
    assert tsplib.url("att48.tsp") == at_heidelberg
    assert national.url("zi929.tsp") == "https://www.math.uwaterloo.ca/tsp/world/zi929.tsp"
    qaplib = catalogue().set("qaplib")
    assert qaplib.url("nug12.dat") == "https://qaplib.mgi.polymtl.ca/data.d/nug12.dat"
    sac94 = catalogue().entry("sac94", "hp1")
    assert sac94 is not None
    at_london = "http://www.eecs.qmul.ac.uk/~jdrake/mkp/sac94/hp/hp1.dat"
    assert catalogue().set("sac94").url(sac94.file) == at_london
    assert national.url("zi929.tsp", "http://mirror/x/") == "http://mirror/x/zi929.tsp"


def test_an_unknown_set_is_refused() -> None:
    with pytest.raises(UsageError, match=r"unknown set 'tsplip'\. Did you mean 'tsplib'"):
        catalogue().set("tsplip")


FOLDERS = {name: name for name in ("tsplib", "national", "vlsi", "qaplib")} | {
    name: f"mkp/{name}" for name in ("orlib", "sac94", "gk")
}


@pytest.mark.published
def test_the_knapsacks_agree_with_the_table(published: Path) -> None:
    with (published / "best_known.csv").open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["problem"] == "MKP"]
    assert len(rows) == 270 + 54 + 11
    for row in rows:
        entry = catalogue().entry(row["set"], row["name"])
        assert entry is not None
        assert entry.best_known is not None
        sizes, best = (entry.size, entry.constraints), entry.best_known
        assert sizes == (int(row["size"]), int(row["constraints"]))
        assert (best.value, best.status) == (int(row["value"]), row["status"])


@pytest.mark.published
def test_checksums_agree_with_the_published_files(published: Path) -> None:
    for name, folder in FOLDERS.items():
        for entry in catalogue().set(name).entries.values():
            content = (published / folder / entry.file).read_bytes()
            assert (entry.bytes, entry.sha256) == (
                len(content),
                hashlib.sha256(content).hexdigest(),
            )
