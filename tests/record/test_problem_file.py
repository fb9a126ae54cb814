"""The key that signs stored problems is complete as soon as it exists, and there is only one."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from islands.record import problem_file


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
        others.append(problem_file._key())
        return make(count)

    monkeypatch.setattr(secrets, "token_bytes", late)
    key = problem_file._key()
    assert others == [key]
    assert len(key) == 32
    assert [path.name for path in keys.iterdir()] == ["problems"]


def test_only_its_user_can_read_the_key(keys: Path) -> None:
    problem_file._key()
    assert (keys / "problems").stat().st_mode & 0o077 == 0
