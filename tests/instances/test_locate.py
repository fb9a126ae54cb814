import gzip
import os
from pathlib import Path

import pytest
from instance_texts import tsplib_text
from synthetic import uniform_tsp

from islands.errors import InputError, UsageError
from islands.instances import locate
from islands.instances.locate import VARIABLE, Finder, Index, Located, find


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create two folders of the user, and a cache."""
    for place in ("one/deep/national/zi929.tsp", "two/national/zi929.tsp", "two/vlsi/own.tsp.gz"):
        write(tmp_path / place)
    write(tmp_path / "cache/instances/national/zi929.tsp")
    write(tmp_path / "cache/instances/vlsi/xqf131.tsp")
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ISLANDS_INSTANCES", f"{tmp_path / 'one'}{os.pathsep}{tmp_path / 'two'}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = tsplib_text(uniform_tsp(5, seed=1)).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def test_folders_are_searched_in_order_and_then_the_cache(folders: Path) -> None:
    assert find("national/zi929").path == folders / "one/deep/national/zi929.tsp"
    assert find("zi929").path == folders / "one/deep/national/zi929.tsp"
    assert find("xqf131").path == folders / "cache/instances/vlsi/xqf131.tsp"
    assert find("demo/tsp").name == "demo/tsp"


def test_a_path_is_tried_first_and_determines_the_set(folders: Path) -> None:
    found = find("two/national/zi929.tsp")
    assert (found.name, found.path) == ("national/zi929", Path("two/national/zi929.tsp"))
    write(folders / "mine/zi929.tsp")
    assert find("mine/zi929.tsp") == Located("mine/zi929.tsp", Path("mine/zi929.tsp"), None)
    # The published file of demo/tsp has another name.
    write(folders / "demo/tsp.tsp")
    assert find("demo/tsp.tsp") == Located("demo/tsp.tsp", Path("demo/tsp.tsp"), None)


def test_forbidden_folders_are_named(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def reject(path: Path) -> bool:
        if "lock" in path.parts:
            raise PermissionError(13, "Permission denied")
        return os.path.isdir(path)  # noqa: PTH112

    monkeypatch.setattr(Path, "is_file", reject)
    with pytest.raises(InputError, match=r"^lock/n3\.tsp: Permission denied\. Change the perm"):
        find("lock/n3.tsp")
    monkeypatch.setattr(Path, "is_dir", reject)
    monkeypatch.setenv("ISLANDS_INSTANCES", "lock")
    with pytest.raises(InputError, match="ISLANDS_INSTANCES contains lock, not a folder"):
        find("att48").file()


def test_a_file_outside_the_catalogue_has_a_name(folders: Path) -> None:
    own = Located("vlsi/own", folders / "two/vlsi/own.tsp.gz", None)
    assert find("vlsi/own") == find("own") == own
    assert Index().others() == {"vlsi/own": folders / "two/vlsi/own.tsp.gz"}


def test_a_file_of_any_suffix_is_found_with_its_set(folders: Path) -> None:
    path = folders / "two/setcover/scp41.txt"
    write(path)
    assert find("setcover/scp41.txt") == Located("setcover/scp41.txt", path, None)
    for name in ("scp41.txt", "setcover/scp41", "jobshop/scp41.txt"):
        with pytest.raises((InputError, UsageError)):
            find(name)


def test_files_with_the_same_name_keep_their_suffixes(folders: Path) -> None:
    write(folders / "two/national/zi929.qap")
    write(folders / "two/vlsi/own.qap")
    assert find("vlsi/own.qap").path == folders / "two/vlsi/own.qap"
    assert find("vlsi/own.tsp").path == folders / "two/vlsi/own.tsp.gz"
    assert find("national/zi929").path == folders / "one/deep/national/zi929.tsp"
    assert find("zi929.qap").path == folders / "two/national/zi929.qap"
    for name in ("vlsi/own", "own"):
        with pytest.raises(UsageError, match=r"files: vlsi/own\.qap, vlsi/own\.tsp"):
            find(name)
    write(folders / "two/other/own.tsp")
    with pytest.raises(UsageError, match=r"several files: other/own, vlsi/own.qap, vlsi/own.tsp\."):
        find("own")
    assert find("other/own").path == folders / "two/other/own.tsp"


def test_a_finder_notices_later_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "mine"))
    searched = list[int]()
    original = locate.Index.__init__

    def noted(index: Index) -> None:
        searched.append(1)
        original(index)

    monkeypatch.setattr(locate.Index, "__init__", noted)
    own = tmp_path / "mine" / "own"
    own.mkdir(parents=True)
    for name in ("first", "second"):
        (own / f"{name}.tsp").write_text("")
    finder = Finder()
    assert finder.find("own/first").path == own / "first.tsp"
    assert finder.find("second").path == own / "second.tsp"
    assert len(searched) == 1
    (own / "third.tsp").write_text("")
    assert finder.find("third").path == own / "third.tsp"
    with pytest.raises(UsageError, match="unknown instance 'fourth'"):
        finder.find("fourth")
    assert len(searched) == 3
    with pytest.raises(UsageError, match="unknown instance 'fourth'"):
        finder.find("fourth", refresh=False)
    assert len(searched) == 3


def test_a_name_in_several_sets_is_rejected(folders: Path) -> None:
    write(folders / "two/other/zi929.tsp")
    with pytest.raises(
        UsageError, match=r"is in several sets\. Specify one of national/zi929, other/"
    ):
        find("zi929")
