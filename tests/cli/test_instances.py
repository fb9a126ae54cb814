from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from commands_for_tests import Capture, Patch
from instance_texts import tsplib_text
from synthetic import uniform_tsp

from islands.cli import main


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: Patch) -> Path:
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ISLANDS_INSTANCES", str(tmp_path / "sets"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    (tmp_path / "sets").mkdir()
    return tmp_path / "sets"


def run(*line: str) -> int:
    return main(["instances", *line])


@contextmanager
def served(folder: Path) -> Iterator[str]:
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def write(path: Path, n: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(tsplib_text(uniform_tsp(n, seed=1)))


def test_check_finds_changed_files(folder: Path, capsys: Capture) -> None:
    assert run("check") == 0
    assert "all files match the published checksums" in capsys.readouterr().out
    write(folder / "national" / "zi929.tsp", 929)
    write(folder / "national" / "dj38.tsp", 37)
    (folder / "national" / "wi29.tsp").write_text("")
    assert run("check", "national") == 1
    out = capsys.readouterr().out
    assert "zi929.tsp: checksum mismatch with the published national/zi929" in out
    assert "dj38.tsp: has size 37, but national/dj38 has 38" in out
    assert "wi29.tsp:1: the file is empty" in out
    assert "3 files are wrong" in out


@pytest.mark.published
def test_file_with_many_problems_is_fetched_once(published: Path, capsys: Capture) -> None:
    with served(published / "mkp") as url:
        assert run("fetch", "orlib", "--from", f"{url}/orlib") == 0
        assert run("fetch", "sac94", "--from", f"{url}/sac94") == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [
        "orlib: 9 files are complete and correct, 0 failed",
        "sac94: 54 files are complete and correct, 0 failed",
    ]
    assert run("check", "sac94") == 0
    assert "54 of 54 instances are present" in capsys.readouterr().out
    assert run("list", "orlib") == 0
    assert "270 instances, 270 local" in capsys.readouterr().out


def test_an_absent_file_has_a_way_to_get_it(capsys: Capture) -> None:
    for name, words in {
        "tsplib/pcb442": "download it with `islands instances fetch tsplib`",
        "jobshop/ft10": "none; download it from the home page",
        "dimacs/E1k.1": "generated on demand",
    }.items():
        assert run("show", name) == 0
        out = capsys.readouterr().out
        assert words in out
        assert "home page" in out
