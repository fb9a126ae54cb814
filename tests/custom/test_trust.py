"""Signatures are recognised; processes that make the key at once share one complete key."""

import os
import re
import secrets
from collections.abc import Callable
from pathlib import Path

import pytest
from commands_for_tests import Patch

from islands.cli import parsed
from islands.cli.arguments import names_in
from islands.custom.scripts import is_trusted
from islands.custom.signature import is_signed, sign, signed
from islands.custom.trust import command, current, signed_scripts, trust_files
from islands.errors import InputError
from islands.untrusted import followed


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: Patch) -> Path:
    """Return the folder of a new key."""
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "keys"


def test_two_processes_that_make_the_key_at_once_agree(keys: Path, monkeypatch: Patch) -> None:
    make, others = secrets.token_bytes, list[bytes]()

    def late(count: int) -> bytes:
        # While this process makes a key, another one reads or makes it.
        monkeypatch.setattr(secrets, "token_bytes", make)
        others.append(sign(b"a"))
        return make(count)

    monkeypatch.setattr(secrets, "token_bytes", late)
    assert others == [sign(b"a")]
    assert (keys / "problems").stat().st_size == 32
    assert [path.name for path in keys.iterdir()] == ["problems"]


def test_only_its_user_can_read_the_key(keys: Path) -> None:
    sign(b"a")
    assert (keys / "problems").stat().st_mode & 0o077 == 0


TEXT = 'crossover = "/a/mine.py:Spread"\n'


def test_a_text_is_recognised_until_it_is_changed(keys: Path, monkeypatch: Patch) -> None:
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


def test_the_signature_of_a_problem_signs_no_text(keys: Path) -> None:
    text = signed(TEXT)
    of_problem = sign(TEXT.encode()).hex()
    forged = re.sub("[0-9a-f]{64}", of_problem, text)
    assert forged != text
    assert not is_signed(forged)


def test_a_signed_file_is_trusted_for_the_scripts_that_it_names(keys: Path, tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(signed(f'{TEXT}[[colony]]\nmutation = "/a/other.py:Shift"\n'))
    assert signed_scripts(file) == {Path("/a/mine.py"), Path("/a/other.py")}
    file.write_text(TEXT)
    assert signed_scripts(file) == frozenset()
    assert signed_scripts(file, by_user=True) == {Path("/a/mine.py")}


def test_a_pipe_is_left_for_its_reader_and_a_link_is_followed(keys: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert signed_scripts(tmp_path / "pipe", followed) == frozenset()
    (tmp_path / "run.toml").write_text(signed(TEXT))
    (tmp_path / "mine.toml").symlink_to(tmp_path / "run.toml")
    assert signed_scripts(tmp_path / "mine.toml", followed) == {Path("/a/mine.py")}
    with pytest.raises(InputError, match="is a link to"):
        signed_scripts(tmp_path / "mine.toml")


def test_a_command_trusts_what_its_own_words_name() -> None:
    mine, other = Path("/a/mine.py"), Path("/a/other.py")
    trust_files([other])
    with command([f"{mine}:problem"]):
        assert (is_trusted(mine), is_trusted(other)) == (True, False)
        with command([], is_all=True):
            assert is_trusted(other)
    assert (is_trusted(mine), is_trusted(other)) == (False, True)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["run", "/a/x.py:P", "demo/tsp", "/it's/y.py:P"], ["/a/x.py", "/it's/y.py"]),
        (["run", "--crossover=/a/x.py:P", "--algorithm", "/a/y.py"], ["/a/x.py", "/a/y.py"]),
        (["run", "--set", "crossover = /b=c/x.py:P"], ["/b=c/x.py"]),
        (["run", "--set", "crossover=/a/x.py:P,/a/y.py:Q"], ["/a/x.py:P,/a/y.py"]),
        (["submit", "--migration", "/a/x.py:T"], ["/a/x.py"]),
        (
            ["run", "--colony", "islands=4 crossover=/b=c/x.py:P mutation='/b c/y.py:Q'"],
            ["/b=c/x.py", "/b c/y.py"],
        ),
        (["tune", "--over", "crossover=/a/x.py:P,uniform,/a/y.py:Q"], ["/a/x.py", "/a/y.py"]),
        (["bench", "quality", "--of", "/a/x.py:P,/a/y.py:P"], ["/a/x.py", "/a/y.py"]),
        (["bench", "quality", "--variant", "a.toml crossover=/a/x.py:P"], ["/a/x.py"]),
        (["bench", "gpus", "/a/x.py:P"], ["/a/x.py"]),
        (["resume", "/a/d.py:d", "/a/x.py:P", "--mutation", "/a/y.py:M"], ["/a/x.py", "/a/y.py"]),
        (["report", "/a/d.py:d", "--instance", "/a/x.py:P"], ["/a/x.py"]),
        (["verify", "/a/x.py:P", "/a/d.py:d"], ["/a/x.py"]),
        (["run", "/a/x.py:P", "/a/*.py", "@/a/l.py:d", "--batch"], ["/a/x.py"]),
        (["run", "--config", "/a/x.py:d", "--out", "/a/x.py:d", "--start", "/a/x.py:d"], []),
    ],
)
def test_options_of_a_command_name_scripts_in_all_ways(words: list[str], named: list[str]) -> None:
    with command(names_in(parsed(words))):
        assert current().files == {Path(each) for each in named}


def _foreign(key: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to another user")
    os.chown(key, 12345, -1)


def _linked(key: Path) -> None:
    key.rename(key.with_name("elsewhere"))
    key.symlink_to(key.with_name("elsewhere"))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda key: key.write_bytes(b""),
        lambda key: key.write_bytes(key.read_bytes() + b"x"),
        lambda key: key.chmod(0o640),
        _foreign,
        _linked,
    ],
)
def test_a_key_that_others_may_have_is_not_used(keys: Path, spoil: Callable[[Path], None]) -> None:
    text = signed(TEXT)
    spoil(keys / "problems")
    for use in (signed, is_signed):
        with pytest.raises(InputError, match=re.escape(str(keys / "problems"))):
            use(text)
    (keys / "problems").unlink()
    assert not is_signed(text)
    assert is_signed(signed(TEXT))
