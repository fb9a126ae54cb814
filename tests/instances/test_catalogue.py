"""The catalogue of instances, and solutions that prove values that no other source has."""

import csv
import gzip
import hashlib
from pathlib import Path

import pytest
from instance_texts import entry_of

from islands.instances.catalogue import catalogue
from islands.instances.formats import MODELS
from islands.paths import data_folder


def test_entries_have_the_published_values() -> None:
    for name, value, status in (
        ("tsplib/pla7397", 23260728, "optimal"),
        ("national/sw24978", 855597, "optimal"),
        ("vlsi/xrh24104", 69294, "best_known"),
        ("qaplib/esc16f", 0, "optimal"),
        ("qaplib/tai100a", 21044752, "best_known"),
        ("atsp/ftv170", 2755, "optimal"),
    ):
        _, best_known = entry_of(name)
        assert (best_known.value, best_known.status) == (value, status)


def test_every_entry_is_complete() -> None:
    entries = [entry for each in catalogue().sets.values() for entry in each.entries.values()]
    published = [each for each in entries if each.set not in ("demo", "grids")]
    assert len(published) == 324 + 13 + 270 + 54 + 11 + 239 + 52 + 12
    # No source has values of these.
    unknown = [each.name for each in entries if each.best_known is None]
    assert unknown == [f"E3k.{index}" for index in range(5)]
    for entry in entries:
        if entry.best_known is None:
            continue
        assert entry.best_known.value >= 0 or entry.set == "qubo"
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


FOLDERS = {name: name for name in ("tsplib", "atsp", "national", "vlsi", "qaplib")} | {
    name: f"mkp/{name}" for name in ("orlib", "sac94", "gk")
}


@pytest.mark.published
def test_knapsacks_models_and_directed_tours_agree_with_the_table(published: Path) -> None:
    with (published / "best_known.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    found = 0
    for row in rows:
        entry = catalogue().entry(row["set"], row["name"])
        if entry is None or row["set"] not in (*MODELS, "orlib", "sac94", "gk", "atsp"):
            continue
        found += 1
        status = row["status"].split()[0]  # before a lower bound
        assert (entry.best_known.value, entry.best_known.status) == (int(row["value"]), status)
        if row["problem"] == "ATSP":
            assert entry.size == int(row["size"])
        if row["problem"] == "MKP":
            sizes = (int(row["size"]), int(row["constraints"]))
            assert (entry.size, entry.constraints) == sizes
    models = [len(each.entries) for each in catalogue().sets.values() if each.format in MODELS]
    assert found == 270 + 54 + 11 + 13 + sum(models)


@pytest.mark.published
def test_checksums_agree_with_the_published_files(published: Path) -> None:
    for name, folder in FOLDERS.items():
        for entry in catalogue().set(name).entries.values():
            file = published / folder / entry.file
            zipped = file.with_name(f"{file.name}.gz")
            content = file.read_bytes() if file.exists() else gzip.decompress(zipped.read_bytes())
            facts = len(content), hashlib.sha256(content).hexdigest()
            assert (entry.bytes, entry.sha256) == facts


_FOLDER = data_folder("instances") / "evidence"
FILES = sorted(_FOLDER.rglob("*.*"))


def test_values_that_were_found_here_have_a_solution() -> None:
    with (_FOLDER.parent / "orlib.csv").open(newline="") as stream:
        found = [row["name"] for row in csv.DictReader(stream) if "of islands" in row["source"]]
    assert found == [path.stem for path in FILES]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_solution_has_the_value_of_the_catalogue(published: Path, path: Path) -> None:
    _, best_known = entry_of(f"{path.parent.name}/{path.stem}")
    file, number = published / "mkp" / "orlib" / "mknapcb9.txt", int(path.stem[-2:])
    words = iter(file.read_text().split())
    for _ in range(1 + number * (3 + 500 + 30 * 500 + 30)):
        next(words)
    n, m, _ = (int(next(words)) for _ in range(3))
    profits = [int(next(words)) for _ in range(n)]
    rows = [[int(next(words)) for _ in range(n)] for _ in range(m)]
    chosen = {int(word) - 1 for word in path.read_text().split()}
    assert sum(profits[item] for item in chosen) == best_known.value
    assert all(sum(row[item] for item in chosen) <= int(next(words)) for row in rows)
