import hashlib
from pathlib import Path

import pytest

import islands
from islands.instances import dimacs, generated
from islands.instances.catalogue import catalogue
from islands.instances.locate import find


def test_uniform_cities_begin_as_published() -> None:
    first = dimacs.uniform(1000, 1000)[:3]
    assert first.tolist() == [[140237, 801141], [169837, 196125], [685585, 729516]]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["E1k.0", "C1k.0"])
def test_the_best_known_tour_is_found(name: str) -> None:
    entry = catalogue().set("dimacs").entries[name]
    best = entry.best_known.value
    found = islands.solve(f"dimacs/{name}", target=best, seconds=60, backend="cpu")
    assert found.cost == best


def test_files_are_those_of_the_catalogue() -> None:
    for name in ("E1k.0", "E1k.9", "C1k.0", "C3k.4", "E10k.1"):
        entry = catalogue().set("dimacs").entries[name]
        content = dimacs.text(name, entry.size).encode()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (entry.bytes, entry.sha256)


def test_a_file_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path))
    found = find("C1k.3")
    assert found.path is None
    path = found.file()
    assert path == tmp_path / "instances" / "dimacs" / "C1k.3.tsp"
    made = path.stat().st_mtime_ns
    assert found.file().stat().st_mtime_ns == made
    assert find("dimacs/C1k.3").path == path


def test_a_damaged_file_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path))
    entry = catalogue().set("dimacs").entries["E1k.5"]
    path = tmp_path / "instances" / "dimacs" / "E1k.5.tsp"
    path.parent.mkdir(parents=True)
    path.write_text("cut off")
    assert generated.file_of(entry).stat().st_size == entry.bytes
