"""Which compiled programs are run: sound ones, that nobody else can have written."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest
from scanned import SCAN

from islands.backends.base import Backend, Block
from islands.backends.cache import loaded
from islands.backends.cpu import CpuBackend, compiler
from islands.errors import InputError, UnwritableError
from islands.paths import cache_folder

DIGEST = "d1ce57" * 8
SOMEBODY = 12345
_FOREIGN = """
#include <unistd.h>
__attribute__((constructor)) static void speak() { (void)!write(1, "foreign code runs", 17); }
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Maker:
    """Makes programs that are texts, and counts them."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self, path: Path) -> None:
        self.made += 1
        path.write_text(f"program {DIGEST}")

    def load(self) -> str:
        return loaded(DIGEST, ".txt", self, Path.read_text)


def kept() -> Path:
    """Return the one program that is there."""
    (path,) = cache_folder("programs").iterdir()
    return path


def keep(digest: str, suffix: str, content: bytes) -> Path:
    """Put a program there by the name that it would have."""
    checksum = hashlib.sha256(content).hexdigest()[:16]
    path = cache_folder("programs") / f"{digest}-{checksum}{suffix}"
    path.write_bytes(content)
    path.chmod(0o600)
    return path


def give_away(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to somebody else")
    os.chown(path, SOMEBODY, -1)


def test_the_cache_is_made_for_its_user_alone(cache: Path) -> None:
    before = os.umask(0)
    try:
        Maker().load()
    finally:
        os.umask(before)
    for path in (cache, cache / "programs", kept()):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


def test_a_program_is_made_once() -> None:
    maker = Maker()
    assert maker.load() == maker.load() == f"program {DIGEST}"
    assert maker.made == 1


@pytest.mark.parametrize("whose", ["writable", "sticky", "somebody's"])
def test_a_program_that_others_may_have_written_is_made_anew(
    whose: str, capsys: pytest.CaptureFixture[str]
) -> None:
    maker = Maker()
    path = keep(DIGEST, ".txt", f"foreign {DIGEST}".encode())
    if whose == "writable":
        path.chmod(0o620)
        fault = "can be written by others (mode 620)"
    elif whose == "sticky":
        path.chmod(0o1666)
        fault = "can be written by others (mode 1666)"
    else:
        give_away(path)
        fault = f"belongs to uid {SOMEBODY}"
    assert maker.load() == f"program {DIGEST}"
    words = f"islands: the program {path} {fault}: it is replaced, not run\n"
    assert capsys.readouterr().err == words
    assert maker.load() == f"program {DIGEST}"
    assert (maker.made, capsys.readouterr().err) == (1, "")
    assert kept() != path


def test_a_link_of_somebody_else_is_not_followed() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a link to somebody else")
    maker = Maker()
    maker.load()
    own = kept().rename(cache_folder("elsewhere") / "program")
    link = keep(DIGEST, ".txt", own.read_bytes())
    link.unlink()
    link.symlink_to(own)
    maker.load()
    os.chown(link, SOMEBODY, -1, follow_symlinks=False)
    assert maker.made == 1
    maker.load()
    assert maker.made == 2
    assert not kept().is_symlink()


@pytest.mark.parametrize("mode", [0o775, 0o2770, 0o707], ids=oct)
@pytest.mark.parametrize("name", ["", "programs"])
def test_a_folder_of_this_user_is_taken_from_others(cache: Path, name: str, mode: int) -> None:
    cache_folder("programs")
    (cache / name).chmod(mode)
    assert Maker().load() == f"program {DIGEST}"
    assert stat.S_IMODE((cache / name).stat().st_mode) == mode & ~0o022


@pytest.mark.parametrize("name", ["", "programs"])
@pytest.mark.parametrize("whose", ["the user's", "root's", "somebody's"])
def test_a_folder_that_cannot_be_taken_from_others_is_refused(
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
            os.chown(cache, SOMEBODY, -1)
        monkeypatch.setattr(os, "geteuid", lambda: SOMEBODY)
    else:
        give_away(cache / name)
        fault = f"belongs to uid {SOMEBODY}"
    maker = Maker()
    with pytest.raises(InputError) as caught:
        maker.load()
    message = str(caught.value)
    assert message.startswith(f"the cache folder {cache / name} {fault}, ")
    assert message.endswith(f"nobody else may write, such as ISLANDS_CACHE={cache}/$USER")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match=r"that nobody else may write$"):
        maker.load()
    assert stat.S_IMODE((cache / name).stat().st_mode) == 0o775
    assert maker.made == 0


def test_a_folder_in_which_each_has_his_own_is_taken(cache: Path) -> None:
    cache.mkdir()
    cache.chmod(0o1777)  # as /tmp
    assert Maker().load() == f"program {DIGEST}"
    assert stat.S_IMODE(cache.stat().st_mode) == 0o1777


def test_a_folder_that_cannot_be_written_tells_how_to_move_the_cache(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    with pytest.raises(UnwritableError) as caught:
        Maker().load()
    assert str(caught.value) == (
        f"{cache / 'programs'}: cannot be written: Permission denied. Make room there, or let"
        " ISLANDS_CACHE name a folder that you may write"
    )


def test_what_root_has_made_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make what root has made")
    maker = Maker()
    maker.load()
    monkeypatch.setattr(os, "geteuid", lambda: SOMEBODY)
    maker.load()
    assert maker.made == 1


def scanned(backend: Backend) -> list[int]:
    """Return what a kernel computes."""
    program = backend.compile(SCAN, Block(128))
    value = backend.upload(np.array([5, 6, 7], np.uint32))
    backend.run([backend.call(program, "scan", np.int32(3), value, blocks=1)])
    return [int(each) for each in backend.download(value)]


@pytest.mark.parametrize("names_digest", [True, False])
def test_what_cannot_be_loaded_is_made_anew(
    backend: Backend, names_digest: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend.compile(SCAN, Block(128))
    digest, suffix = kept().name.partition("-")[0], kept().suffix
    # In another folder, since a library of the same path would be taken for the loaded one.
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "other"))
    path = keep(digest, suffix, b"\x7fELF" + digest.encode() * names_digest)
    assert scanned(backend) == [0, 5, 11]
    assert kept() != path


def test_a_foreign_library_is_made_anew_and_never_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    backend, foreign = CpuBackend(1), tmp_path / "foreign.so"
    command = [*compiler()[0], "-shared", "-fPIC", "-x", "c++", "-", "-o", str(foreign)]
    subprocess.run(command, input=_FOREIGN, text=True, check=True)
    backend.compile(SCAN, Block())
    digest = kept().name.partition("-")[0]
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "other"))
    keep(digest, ".so", foreign.read_bytes())
    assert scanned(backend) == [0, 5, 11]
    assert capfd.readouterr().out == ""
