from pathlib import Path

import pytest

from islands.errors import InputError, UsageError
from islands.instances.catalogue import catalogue
from islands.instances.locate import Located, find


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("mkp/orlib/mknapcb1.txt", "mkp/sac94/hp/hp1.dat", "mkp/orlib/own.txt", "a:b.txt"):
        path = tmp_path / "sets" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ISLANDS_INSTANCES", str(tmp_path / "sets"))
    monkeypatch.chdir(tmp_path / "sets")
    return tmp_path / "sets"


def test_an_instance_in_a_file_of_several_is_found_by_name(folder: Path) -> None:
    found = find("orlib/mknapcb1-07")
    assert found == find("mknapcb1-07")
    assert found.path == folder / "mkp/orlib/mknapcb1.txt"
    assert found.entry.part == 7
    assert find("orlib/mknapcb2-00").path is None


def test_a_path_with_a_number_selects_an_instance() -> None:
    path = Path("mkp/orlib/mknapcb1.txt")
    entry = catalogue().entry("orlib", "mknapcb1-07")
    assert find(f"{path}:07") == find(f"{path}:7") == Located("orlib/mknapcb1-07", path, entry, 7)
    assert find(f"{path}:30") == Located(f"{path}:30", path, None, 30)
    assert find(str(path)) == Located(str(path), path, None)
    own = Path("mkp/orlib/own.txt")
    assert find(f"{own}:00") == Located(f"{own}:00", own, None, 0)


def test_files_in_folders_of_a_set_are_found(folder: Path) -> None:
    path = folder / "mkp/sac94/hp/hp1.dat"
    assert find("sac94/hp1").path == find("hp1").path == path
    assert find(str(path)).name == "sac94/hp1"
    with pytest.raises(InputError, match=r"to a folder that contains sac94/hp2\.dat"):
        find("sac94/hp2").file()


def test_a_colon_in_a_file_name_is_possible() -> None:
    assert find("a:b.txt") == Located("a:b.txt", Path("a:b.txt"), None)
    assert find("a:b.txt:01") == Located("a:b.txt:01", Path("a:b.txt"), None, 1)
    with pytest.raises((InputError, UsageError)):
        find("a:b.txt:")
    with pytest.raises((InputError, UsageError)):
        find("a:b.txt:-1")
