"""Downloads go through a server on this machine."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from islands.errors import InputError, UnwritableError
from islands.instances.catalogue import Entry, InstanceSet
from islands.instances.fetch import NoAnswerError, digest, fetch
from islands.paths import cache_folder

CONTENT = {f"f{number}.tsp": f"file {number}\r\n".encode() * 1000 for number in range(3)}


class Site:
    """A server whose answers a test changes, and which notes what it was asked for."""

    def __init__(self) -> None:
        self.answers: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.claim_more = False
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                body = site.answers.get(self.path)
                self.send_response(404 if body is None else 200)
                self.send_header("Content-Length", str(len(body or b"") + 100 * site.claim_more))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *_: object) -> None:
                """Stay silent."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path))
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    site = Site()
    site.answers = {f"/{name}": content for name, content in CONTENT.items()}
    thread = Thread(target=site.server.serve_forever, daemon=True)
    thread.start()
    yield site
    site.server.shutdown()
    site.server.server_close()
    thread.join()


def instances(site: Site, pattern: str = "{file}") -> InstanceSet:
    entries = {
        file: Entry(
            set="toy",
            name=file,
            problem="tsp",
            size=1,
            best_known=None,
            file=file,
            bytes=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
        )
        for file, content in CONTENT.items()
    }
    return InstanceSet("toy", "Toy", "", site.base, pattern, "", entries)


def cached() -> dict[str, bytes]:
    folder = cache_folder("instances") / "toy"
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def ignore(_: str) -> None:
    """Say nothing."""


def test_a_set_is_fetched_and_then_left_alone(site: Site) -> None:
    lines: list[str] = []
    assert fetch(instances(site), None, lines.append) == []
    assert cached() == CONTENT
    assert [line.split()[0] for line in lines] == ["1/3", "2/3", "3/3"]
    site.asked.clear()
    assert fetch(instances(site), None, ignore) == []
    assert site.asked == []


def test_a_damaged_file_in_the_cache_is_fetched_again(site: Site) -> None:
    fetch(instances(site), None, ignore)
    (cache_folder("instances") / "toy" / "f1.tsp").write_bytes(b"\x1f\x8bdamaged")
    site.asked.clear()
    assert fetch(instances(site), None, ignore) == []
    assert site.asked == ["/f1.tsp"]
    assert cached() == CONTENT


def test_gzipped_files_are_checked_and_kept_decompressed(site: Site) -> None:
    site.answers = {f"/{name}.gz": gzip.compress(content) for name, content in CONTENT.items()}
    assert fetch(instances(site, "{file}.gz"), None, ignore) == []
    assert cached() == CONTENT


def test_a_mirror_takes_the_place_of_the_site(site: Site) -> None:
    site.answers = {f"/mirror/{name}": content for name, content in CONTENT.items()}
    assert fetch(instances(site), f"{site.base}/mirror", ignore) == []
    assert cached() == CONTENT


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "the server answered 404 Not Found"),
        (CONTENT["f1.tsp"].replace(b"1", b"7"), "SHA-256 .*, not the published file"),
        (CONTENT["f1.tsp"][:-1], "only 7999 of 8000 bytes, not the published file"),
        (CONTENT["f1.tsp"] + b"x", "more than 8000 bytes, not the published file"),
        (gzip.compress(bytes(1 << 24), mtime=0), "more than 8000 bytes, not the published file"),
        (
            gzip.compress(CONTENT["f1.tsp"], mtime=0)[:-9],
            "a broken gzip file, not the published file",
        ),
        (b"", "only 0 of 8000 bytes"),
    ],
)
def test_a_wrong_answer_is_refused_and_the_rest_fetched(
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


def test_a_transfer_that_breaks_off_leaves_nothing(site: Site) -> None:
    site.claim_more = True
    failures = fetch(instances(site), None, ignore)
    assert len(failures) == 3
    assert all("the transfer broke off" in str(failure) for failure in failures)
    assert cached() == {}


def test_without_a_network_the_message_says_what_to_do(site: Site) -> None:
    site.server.server_close()
    with pytest.raises(NoAnswerError) as caught:
        fetch(instances(site), None, ignore)
    message = str(caught.value)
    assert message.startswith(f"{site.base}/f0.tsp: no connection. Finished files stay")
    assert "let ISLANDS_INSTANCES name a folder that holds toy/f0.tsp" in message


def test_a_cache_that_cannot_be_made_is_refused(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "file"))
    with pytest.raises(InputError, match=r"cannot make the cache .* Let ISLANDS_CACHE name"):
        fetch(instances(site), None, ignore)


def test_a_cache_that_cannot_be_written_ends_the_fetching(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("islands.paths.tempfile.mkstemp", refuse)
    with pytest.raises(UnwritableError, match=r"f0\.tsp: cannot be written: Permission denied\."):
        fetch(instances(site), None, ignore)


def test_an_impossible_address_is_refused(site: Site) -> None:
    with pytest.raises(NoAnswerError, match="Invalid URL"):
        fetch(instances(site), "nonsense", ignore)


def test_the_embedded_set_needs_no_fetching(site: Site) -> None:
    embedded = InstanceSet("demo", "", "", "", "", "", {})
    lines: list[str] = []
    assert fetch(embedded, None, lines.append) == []
    assert lines == ["demo comes with the program: nothing to fetch"]


def test_a_digest_is_of_the_decompressed_content(tmp_path: Path) -> None:
    plain, zipped = tmp_path / "plain", tmp_path / "zipped"
    plain.write_bytes(CONTENT["f0.tsp"])
    zipped.write_bytes(gzip.compress(CONTENT["f0.tsp"]))
    assert digest(plain) == digest(zipped) == hashlib.sha256(CONTENT["f0.tsp"]).hexdigest()
