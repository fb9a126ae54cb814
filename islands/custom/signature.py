"""Signatures of texts and problems, with a key that only this user on this machine has."""

import hmac
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from islands.backends.cache import own_folder
from islands.errors import InputError
from islands.inside import opened
from islands.paths import reading, writing

_LINE = "# Signed by the user who wrote the lines above, on the same machine: "
_TEXT = b"text\n"
"""The prefix of signed texts, so that no text has the signature of a problem."""
_KEY_BYTES = 32


def signed(text: str) -> str:
    """Return a text with its signature as the last line."""
    return f"{text}{_LINE}{_signature(text)}\n"


def is_signed(text: str) -> bool:
    """Return whether this user has signed a text; only comments may follow the signature."""
    lines, line, rest = text.rpartition(_LINE)
    signature, *others = rest.split("\n")
    if not line or any(other and not other.startswith("#") for other in others):
        return False
    return hmac.compare_digest(signature.encode(), _signature(lines).encode())


def _signature(text: str) -> str:
    return sign(_TEXT + text.encode()).hex()


def sign(content: bytes) -> bytes:
    """Return the signature of the content, which only this user on this machine can compute."""
    path = own_folder("keys") / "problems"
    if not os.path.lexists(path):
        # A link appears with its complete content, and only one of several processes creates it.
        with writing(path), NamedTemporaryFile(dir=path.parent) as temporary:
            temporary.write(secrets.token_bytes(_KEY_BYTES))
            temporary.flush()
            with suppress(FileExistsError):
                os.link(temporary.name, path)
    with reading(path), opened(path) as stream:
        status, key = os.fstat(stream.fileno()), stream.read(_KEY_BYTES + 1)
    # The key must be unknown to other users, and not chosen by them.
    if status.st_uid != os.geteuid() or status.st_mode & 0o177 or len(key) != _KEY_BYTES:
        raise _unsafe_key(path, status)
    return hmac.digest(key, content, "sha256")


def _unsafe_key(path: Path, status: os.stat_result) -> InputError:
    return InputError(
        f"{path}: has the owner {status.st_uid}, mode {stat.S_IMODE(status.st_mode):o} and"
        f" {status.st_size} bytes; a key has the owner {os.geteuid()}, mode 600 and {_KEY_BYTES}"
        " bytes. Remove it: the next command creates a new one, and folders with scripts that were"
        " created before then need --trust"
    )
