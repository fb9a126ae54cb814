"""The cache runs only intact programs that no other user can have written."""

import grp
import hashlib
import os
import pwd
import re
import stat
import subprocess
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from programs_for_tests import SCAN

from islands.backends.base import Backend, Block
from islands.backends.cache import loaded
from islands.backends.cpu import CpuBackend, compiler
from islands.errors import InputError
from islands.paths import cache_folder

DIGEST = "d1ce57" * 8
OTHER_USER = 12345
_FOREIGN = """
#include <unistd.h>
__attribute__((constructor)) static void speak() { (void)!write(1, "foreign code runs", 17); }
"""


@pytest.fixture(autouse=True)
def cache(fresh_cache: Path) -> Path:
    return fresh_cache


class Maker:
    """Makes programs, which are texts here, and counts them."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self, path: Path) -> None:
        self.made += 1
        path.write_text(f"program {DIGEST}")

    def load(self) -> str:
        return loaded(DIGEST, ".txt", self, Path.read_text)


def cached() -> Path:
    (path,) = (each for each in cache_folder("programs").rglob("*") if each.is_file())
    return path


def put(digest: str, suffix: str, content: bytes) -> Path:
    """Write a program to the cache under its proper name."""
    checksum = hashlib.sha256(content).hexdigest()[:16]
    path = cache_folder(f"programs/{digest[:2]}") / f"{digest}-{checksum}{suffix}"
    path.write_bytes(content)
    path.chmod(0o600)
    return path


def give_away(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can change the owner of a file")
    os.chown(path, OTHER_USER, -1)


def test_only_its_user_can_access_a_new_cache(cache: Path) -> None:
    before = os.umask(0)
    try:
        Maker().load()
    finally:
        os.umask(before)
    for path in (cache, cache / "programs", cached().parent, cached()):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


@pytest.mark.parametrize(
    "content", [f"program {DIGEST} with more", f"Program {DIGEST}", "program of another digest"]
)
def test_a_program_with_another_checksum_or_digest_is_never_loaded(content: str) -> None:
    maker, read = Maker(), list[str]()
    maker.load()
    if DIGEST in content:
        cached().write_text(content)  # its name has the checksum of the content before
    else:
        cached().unlink()
        put(DIGEST, ".txt", content.encode())

    def load(path: Path) -> str:
        read.append(path.read_text())
        return read[-1]

    assert loaded(DIGEST, ".txt", maker, load) == f"program {DIGEST}"
    assert (maker.made, content in read) == (2, False)


@pytest.mark.parametrize(
    ("mode", "fault"),
    [
        (0o620, "can be written by others (mode 620)"),
        (0o1666, "can be written by others (mode 1666)"),
        (None, f"belongs to uid {OTHER_USER}"),
    ],
)
def test_a_program_that_others_may_have_written_is_made_again(
    mode: int | None, fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    maker = Maker()
    path = put(DIGEST, ".txt", f"foreign {DIGEST}".encode())
    give_away(path) if mode is None else path.chmod(mode)
    assert maker.load() == f"program {DIGEST}"
    message = f"islands: the program {path} {fault}: it is not run but compiled again\n"
    assert capsys.readouterr().err == message
    assert maker.load() == f"program {DIGEST}"
    assert (maker.made, capsys.readouterr().err) == (1, "")
    assert cached() != path


def test_a_link_of_another_user_is_not_followed() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can change the owner of a link")
    maker = Maker()
    maker.load()
    own = cached().rename(cache_folder("elsewhere") / "program")
    link = put(DIGEST, ".txt", own.read_bytes())
    link.unlink()
    link.symlink_to(own)
    maker.load()
    os.chown(link, OTHER_USER, -1, follow_symlinks=False)
    assert maker.made == 1
    maker.load()
    assert maker.made == 2
    assert not cached().is_symlink()


@pytest.mark.parametrize(
    ("name", "mode", "after"),
    [
        ("", 0o775, 0o755),
        ("programs", 0o2770, 0o2750),
        ("", 0o707, 0o705),
        ("", 0o1777, 0o1777),  # sticky, as /tmp
    ],
)
def test_write_permission_for_others_is_lost(cache: Path, name: str, mode: int, after: int) -> None:
    cache_folder("programs")
    (cache / name).chmod(mode)
    assert Maker().load() == f"program {DIGEST}"
    assert stat.S_IMODE((cache / name).stat().st_mode) == after


@pytest.mark.parametrize(
    ("mode", "is_rejected"), [(0o777, True), (0o757, True), (0o1777, False)], ids=oct
)
@pytest.mark.parametrize("is_linked", [False, True])
def test_a_cache_below_a_folder_that_others_may_write_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, is_rejected: bool, is_linked: bool
) -> None:
    """Others could rename its folders there, unless it is sticky as /tmp is."""
    (tmp_path / "shared/mine/cache").mkdir(parents=True)
    (tmp_path / "shared").chmod(mode)
    (tmp_path / "link").symlink_to(tmp_path / "shared/mine/cache")
    monkeypatch.setenv(
        "ISLANDS_CACHE", str(tmp_path / ("link" if is_linked else "shared/mine/cache"))
    )
    maker = Maker()
    if is_rejected:
        with pytest.raises(InputError, match=re.escape(str(tmp_path / "shared"))):
            maker.load()
    else:
        assert maker.load() == f"program {DIGEST}"
    assert maker.made == (not is_rejected)


@pytest.mark.parametrize(
    ("group", "members", "is_rejected"),
    [("me", [], False), ("me", ["me"], False), ("me", ["me", "you"], True), ("us", ["me"], True)],
)
def test_the_group_of_one_user_alone_may_write_above_the_cache(
    cache: Path, monkeypatch: pytest.MonkeyPatch, group: str, members: list[str], is_rejected: bool
) -> None:
    cache.parent.chmod(0o775)  # as with a umask of 002
    monkeypatch.setattr(pwd, "getpwuid", lambda _: SimpleNamespace(pw_name="me"))
    found = SimpleNamespace(gr_name=group, gr_mem=members)
    monkeypatch.setattr(grp, "getgrgid", lambda _: found)
    with pytest.raises(InputError) if is_rejected else nullcontext():
        Maker().load()


@pytest.mark.parametrize("name", ["", "programs"])
@pytest.mark.parametrize("whose", ["the user's", "root's", "another user's"])
def test_a_folder_that_stays_writable_by_others_is_rejected(
    cache: Path, name: str, whose: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache_folder("programs")
    fault = "can be written by others (mode 775)"
    (cache / name).chmod(0o775)
    if whose == "the user's":
        monkeypatch.setattr(Path, "chmod", lambda *_: None)  # as on file systems without modes
    elif whose == "root's":
        if os.geteuid() != 0:
            pytest.skip("only root can make a folder of root")
        if name:
            os.chown(cache, OTHER_USER, -1)
        monkeypatch.setattr(os, "geteuid", lambda: OTHER_USER)
    else:
        give_away(cache / name)
        fault = f"belongs to uid {OTHER_USER}"
    maker = Maker()
    with pytest.raises(InputError) as caught:
        maker.load()
    assert str(caught.value).startswith(f"the cache folder {cache / name} {fault}, ")
    assert stat.S_IMODE((cache / name).stat().st_mode) == 0o775
    assert maker.made == 0


def test_a_program_of_root_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a program of root")
    maker = Maker()
    maker.load()
    monkeypatch.setattr(os, "geteuid", lambda: OTHER_USER)
    maker.load()
    assert maker.made == 1


def scanned(backend: Backend) -> list[int]:
    """Return the result of a small kernel."""
    program = backend.compile(SCAN, Block(128))
    value = backend.upload(np.array([5, 6, 7], np.uint32))
    backend.run([backend.call(program, "scan", np.int32(3), value, blocks=1)])
    return [int(each) for each in backend.download(value)]


@pytest.mark.parametrize("names_digest", [True, False])
def test_a_program_that_cannot_be_loaded_is_made_again(
    backend: Backend, names_digest: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend.compile(SCAN, Block(128))
    digest, suffix = cached().name.partition("-")[0], cached().suffix
    # In another folder, as the loader would reuse a loaded library of the same path.
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "other"))
    backend.release()
    path = put(digest, suffix, b"\x7fELF" + digest.encode() * names_digest)
    assert scanned(backend) == [0, 5, 11]
    assert cached() != path


def test_a_foreign_library_is_never_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    backend, foreign = CpuBackend(1), tmp_path / "foreign.so"
    command = [*compiler()[0], "-shared", "-fPIC", "-x", "c++", "-", "-o", str(foreign)]
    subprocess.run(command, input=_FOREIGN, text=True, check=True)
    backend.compile(SCAN, Block())
    digest = cached().name.partition("-")[0]
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "other"))
    put(digest, ".so", foreign.read_bytes())
    assert scanned(backend) == [0, 5, 11]
    assert capfd.readouterr().out == ""
