"""What a user has signed is recognised; the key is complete as soon as it exists, and only one."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest

from islands.custom import trust
from islands.custom.trust import NO_TRUST, is_signed, signed
from islands.errors import InputError
from islands.untrusted import followed


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a new key."""
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "keys"


def test_two_processes_that_make_the_key_at_once_have_the_same(
    keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, others = secrets.token_bytes, list[bytes]()

    def late(count: int) -> bytes:
        # While this process makes a key, another one reads or makes it.
        monkeypatch.setattr(secrets, "token_bytes", make)
        others.append(trust._key())
        return make(count)

    monkeypatch.setattr(secrets, "token_bytes", late)
    key = trust._key()
    assert others == [key]
    assert len(key) == 32
    assert [path.name for path in keys.iterdir()] == ["problems"]


def test_only_its_user_can_read_the_key(keys: Path) -> None:
    trust._key()
    assert (keys / "problems").stat().st_mode & 0o077 == 0


TEXT = 'crossover = "/a/mine.py:Spread"\n'


def test_a_text_is_recognised_until_it_is_changed(
    keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = signed(TEXT)
    assert is_signed(text)
    assert is_signed(f"{text}# a comment\n")
    for other in (
        TEXT,
        text.replace("mine", "evil"),
        f'{text}mutation = "/a/evil.py:Shift"\n',
        text + TEXT + text.removeprefix(TEXT),
        "",
    ):
        assert not is_signed(other)
    monkeypatch.setenv("ISLANDS_CACHE", str(keys.parent.parent / "of somebody else"))
    assert not is_signed(text)


def test_a_signed_file_is_trusted_for_the_scripts_that_it_names(keys: Path, tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(signed(f'{TEXT}[[colony]]\nmutation = "/a/other.py:Shift"\n'))
    assert NO_TRUST.signed_in(file).files == {Path("/a/mine.py"), Path("/a/other.py")}
    file.write_text(TEXT)
    assert NO_TRUST.signed_in(file).files == frozenset()


def test_a_pipe_is_left_for_its_only_reader_and_a_link_of_the_user_is_followed(
    keys: Path, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert NO_TRUST.signed_in(tmp_path / "pipe", followed).files == frozenset()
    (tmp_path / "run.toml").write_text(signed(TEXT))
    (tmp_path / "mine.toml").symlink_to(tmp_path / "run.toml")
    assert NO_TRUST.signed_in(tmp_path / "mine.toml", followed).files == {Path("/a/mine.py")}
    with pytest.raises(InputError, match="is a link to"):
        NO_TRUST.signed_in(tmp_path / "mine.toml")
