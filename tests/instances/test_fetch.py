"""Downloads from a local server."""

import gzip
import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest

from islands.errors import InputError
from islands.instances.catalogue import Entry, InstanceSet
from islands.instances.fetch import NoAnswerError, digest, fetch
from islands.paths import cache_folder

CONTENT = {f"f{number}.tsp": f"file {number}\r\n".encode() * 1000 for number in range(3)}


class Site(ThreadingHTTPServer):
    """A server with configurable answers that records its requests."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.server_port}"
        self.answers = {f"/{name}": content for name, content in CONTENT.items()}
        self.asked: list[str] = []
        self.claims_more = self.is_endless = False
        self.cut_off = Event()


class Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        site = self.server
        site.asked.append(self.path)
        body = site.answers.get(self.path)
        self.send_response(404 if body is None else 200)
        body = body or b""
        if site.is_endless:
            self.end_headers()
            with suppress(OSError):
                for _ in range((1 << 26) // len(body)):
                    self.wfile.write(body)
                return
            site.cut_off.set()
            return
        self.send_header("Content-Length", str(len(body) + 100 * site.claims_more))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Stay silent."""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path))
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with Site() as site:
        thread = Thread(target=site.serve_forever, daemon=True)
        thread.start()
        yield site
        site.shutdown()
        thread.join()


def instances(site: Site, pattern: str = "{file}") -> InstanceSet:
    entries = {}
    for file, content in CONTENT.items():
        facts = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        entries[file] = Entry(
            "toy", file, problem="tsp", size=1, best_known=None, file=file, **facts
        )
    return InstanceSet("toy", "Toy", "", site.base, pattern, "", entries)


def cached() -> dict[str, bytes]:
    folder = cache_folder("instances") / "toy"
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def ignore(_: str) -> None:
    """Say nothing."""


def test_a_set_is_downloaded_once(site: Site) -> None:
    lines: list[str] = []
    assert fetch(instances(site), None, lines.append) == []
    assert cached() == CONTENT
    assert [line.split()[0] for line in lines] == ["1/3", "2/3", "3/3"]
    site.asked.clear()
    assert fetch(instances(site), None, ignore) == []
    assert site.asked == []


def test_a_damaged_file_in_the_cache_is_downloaded_again(site: Site) -> None:
    fetch(instances(site), None, ignore)
    (cache_folder("instances") / "toy" / "f1.tsp").write_bytes(b"\x1f\x8bdamaged")
    site.asked.clear()
    assert fetch(instances(site), None, ignore) == []
    assert site.asked == ["/f1.tsp"]
    assert cached() == CONTENT


def test_gzipped_files_are_verified_and_stored_decompressed(site: Site) -> None:
    site.answers = {f"/{name}.gz": gzip.compress(content) for name, content in CONTENT.items()}
    assert fetch(instances(site, "{file}.gz"), None, ignore) == []
    assert cached() == CONTENT


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "the server answered 404 Not Found"),
        (CONTENT["f1.tsp"].replace(b"1", b"7"), "SHA-256 .*: not the published file"),
        (CONTENT["f1.tsp"][:-1], "only 7999 of 8000 bytes"),
        (CONTENT["f1.tsp"] + b"x", "more than 8000 bytes"),
        (gzip.compress(bytes(1 << 24), mtime=0), "more than 8000 bytes"),
        (gzip.compress(CONTENT["f1.tsp"], mtime=0)[:-9], "a broken gzip file"),
    ],
)
def test_only_a_file_with_a_wrong_answer_fails(
    site: Site, answer: bytes | None, words: str
) -> None:
    del site.answers["/f1.tsp"]
    if answer is not None:
        site.answers["/f1.tsp"] = answer
    (failure,) = fetch(instances(site), None, ignore)
    with pytest.raises(InputError, match=words):
        raise failure
    assert str(failure).startswith(f"{site.base}/f1.tsp: ")
    assert sorted(cached()) == ["f0.tsp", "f2.tsp"]


@pytest.mark.parametrize("form", ["plain", "noise", "zipped"])
def test_an_endless_answer_is_cut_off(site: Site, form: str) -> None:
    bodies = {"plain": CONTENT["f1.tsp"], "noise": os.urandom(8000)}
    bodies["zipped"] = gzip.compress(bytes(1 << 20))
    site.answers, site.is_endless = {"/f1.tsp": bodies[form]}, True
    toy = instances(site)
    (failure,) = fetch(replace(toy, entries={"f1.tsp": toy.entries["f1.tsp"]}), None, ignore)
    words = f"{site.base}/f1.tsp: more than 8000 bytes: not the published file with SHA-256 "
    assert str(failure).startswith(words)
    # Only the system's buffers are filled.
    assert site.cut_off.wait(10)
    assert cached() == {}


def test_without_a_network_the_message_gives_a_fix(site: Site) -> None:
    site.server_close()
    with pytest.raises(NoAnswerError) as caught:
        fetch(instances(site), None, ignore)
    message = str(caught.value)
    assert message.startswith(f"{site.base}/f0.tsp: no connection. Finished files are kept")
    assert "set ISLANDS_INSTANCES to a folder that contains toy/f0.tsp" in message


def test_only_the_beginning_of_a_longer_file_is_decompressed(tmp_path: Path) -> None:
    path = tmp_path / "bomb.tsp.gz"
    zeros = gzip.compress(bytes(1 << 20))
    # Reading to the end would fail, as the end is damaged.
    path.write_bytes(zeros + b"broken")
    assert digest(path, 8000) != hashlib.sha256(bytes(8000)).hexdigest()
    with pytest.raises(gzip.BadGzipFile):
        digest(path, 1 << 21)


def test_an_interrupted_transfer_leaves_no_file(site: Site) -> None:
    site.claims_more = True
    failures = fetch(instances(site), None, ignore)
    assert len(failures) == 3
    assert all("the transfer was interrupted" in str(failure) for failure in failures)
    assert cached() == {}
