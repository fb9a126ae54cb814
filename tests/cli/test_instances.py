from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from instance_texts import tsplib_text

from islands.cli import instances
from islands.errors import InputError, UsageError
from islands.instances.fetch import NoAnswerError
from islands.instances.synthetic import uniform_tsp


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ISLANDS_INSTANCES", str(tmp_path / "sets"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    (tmp_path / "sets").mkdir()
    return tmp_path / "sets"


def run(*line: str) -> int:
    parser = argparse.ArgumentParser()
    instances.add_arguments(parser)
    return instances.main(parser.parse_args(line))


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the files of a folder over HTTP."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def write(path: Path, n: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(tsplib_text(uniform_tsp(n, seed=1)))


def test_list_shows_all_sets(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder / "national" / "zi929.tsp", 929)
    write(folder / "vlsi" / "own.tsp", 5)
    assert run("list") == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["tsplib/att48", "48", "10628", "optimal", "not", "here"] in rows
    assert ["national/zi929", "929", "95345", "optimal", "here"] in rows
    assert ["qaplib/tai100a", "100", "21044752", "best_known", "not", "here"] in rows
    assert ["vlsi/own", str(folder / "vlsi" / "own.tsp")] in rows


def test_list_of_one_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list", "national") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("25 instances, 0 here")
    assert len(lines) == 26


def test_show_says_how_to_get_a_missing_instance(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("show", "berlin52") == 0
    out = capsys.readouterr().out
    assert "7542 (optimal)" in out
    assert "/TSPLIB95/tsp/berlin52.tsp.gz" in out
    assert "`islands instances fetch tsplib` gets it" in out


def test_show_prints_path_and_size_of_an_own_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder / "mine" / "own.tsp", 5)
    assert run("show", "mine/own") == 0
    out = capsys.readouterr().out
    assert f"file here    {folder / 'mine' / 'own.tsp'}" in out
    assert "size         5" in out


def test_check_finds_changed_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check") == 0
    assert "all files are as published" in capsys.readouterr().out
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
def test_check_accepts_the_published_files(
    published: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ISLANDS_INSTANCES", str(published))
    assert run("check") == 0
    out = capsys.readouterr().out
    assert "tsplib: 103 of 103 instances are here" in out
    assert "qaplib: 125 of 125 instances are here" in out
    assert "orlib: 270 of 270 instances are here" in out
    assert "sac94: 54 of 54 instances are here" in out
    assert "gk: 11 of 11 instances are here" in out


def test_fetch_explains_the_embedded_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fetch", "demo") == 0
    assert "comes with the program" in capsys.readouterr().err


def test_fetch_from_a_mirror_without_the_files_gives_status_1(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(folder) as url:
        assert run("fetch", "national", "--from", url) == 1
    captured = capsys.readouterr()
    assert f"{url}/zi929.tsp: the server answered 404" in captured.err
    assert captured.out == "national: 0 files are complete and correct, 25 failed\n"


@pytest.mark.published
def test_fetched_files_are_counted(
    published: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / "zi929.tsp").symlink_to(published / "national" / "zi929.tsp")
    with served(mirror) as url:
        assert run("fetch", "national", "--from", url) == 1
    assert capsys.readouterr().out == "national: 1 file is complete and correct, 24 failed\n"


@pytest.mark.published
def test_fetched_files_are_found(published: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with served(published / "national") as url:
        assert run("fetch", "national", "--from", url) == 0
    assert capsys.readouterr().out == "national: 25 files are complete and correct, 0 failed\n"
    assert run("check", "national") == 0
    assert "25 of 25 instances are here" in capsys.readouterr().out


@pytest.mark.published
def test_file_with_many_problems_is_fetched_once(
    published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(published / "mkp") as url:
        assert run("fetch", "orlib", "--from", f"{url}/orlib") == 0
        assert run("fetch", "sac94", "--from", f"{url}/sac94") == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [
        "orlib: 9 files are complete and correct, 0 failed",
        "sac94: 54 files are complete and correct, 0 failed",
    ]
    assert run("check", "sac94") == 0
    assert "54 of 54 instances are here" in capsys.readouterr().out
    assert run("list", "orlib") == 0
    assert "270 instances, 270 here" in capsys.readouterr().out


def test_show_a_knapsack(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("show", "orlib/mknapcb9-29") == 0
    out = capsys.readouterr().out
    assert "size         500\nconstraints  30\nbest known   300582 (best_known)" in out
    assert "/orlib/files/mknapcb9.txt" in out
    path = folder / "own.txt"
    path.write_text("2\n1 1 0\n5\n1\n1\n2 3 7\n4 3\n1 1 1 1 1 1\n2 2 2\n")
    assert run("show", f"{path}:01") == 0
    out = capsys.readouterr().out
    assert "size         2\nconstraints  3\nbest known   7 (the file itself)" in out
    with pytest.raises(InputError, match=r"own\.txt: the file contains 2 problems"):
        run("show", str(path))


def test_show_stated_cost_of_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "own").mkdir()
    (folder / "own" / "two.qap").write_text("2 9 9\n0 1\n1 0\n0 5\n5 0\n")
    assert run("show", "own/two") == 0
    lines = capsys.readouterr().out.splitlines()
    assert "best known   -" in lines
    assert lines[-2:] == [
        "the file says optimum 9",
        "this is not accepted as the best known: there is no two.sln next to it to confirm it",
    ]
    # The published data of an instance are shown although its file is damaged.
    (folder / "qaplib").mkdir()
    (folder / "qaplib" / "nug12.dat").write_text("12 578\n")
    with pytest.raises(InputError, match=r"nug12\.dat:1: n is 12, which needs 288 numbers"):
        run("show", "qaplib/nug12")
    assert "best known   578 (optimal)" in capsys.readouterr().out


def test_show_accepts_a_format(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "both.dat"
    path.write_text("2 2 0 1 1 1 1 1 1 1 1")
    with pytest.raises(InputError, match=r"fit two formats: sac94 .* name the format with format="):
        run("show", str(path))
    assert run("show", str(path), "--format", "sac94") == 0
    assert "best known   1 (the file itself)" in capsys.readouterr().out


def test_fetch_without_a_network_is_an_error() -> None:
    with pytest.raises(NoAnswerError, match=r"nonsense/.*\.tsp: Invalid URL"):
        run("fetch", "national", "--from", "nonsense")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["lst"], "unknown action 'lst'. Did you mean 'list'?"),
        (["show"], "instances show: name an instance"),
        (["fetch"], "instances fetch: name a set"),
        (["fetch", "natonal"], "unknown set 'natonal'. Did you mean 'national'?"),
        (["list", "--from", "x"], "--from=x: is only for `islands instances fetch`. Leave it out"),
        (["show", "nosuch"], "unknown instance 'nosuch'"),
        (
            ["list", "--format", "drake"],
            "--format drake: is only for `islands instances show`. Leave",
        ),
    ],
)
def test_invalid_usage_is_refused(line: list[str], words: str) -> None:
    with pytest.raises((UsageError, InputError)) as caught:
        run(*line)
    assert words in str(caught.value)
