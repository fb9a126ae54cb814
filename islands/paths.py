"""Paths: the folders of the package, the cache, and files that are written atomically."""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from platformdirs import user_cache_path

from islands.errors import InputError, IslandsError, UnwritableError, UsageError, system_reason

_ELSEWHERE = "specify a folder in which you may write"
_OTHER_CACHE = "ISLANDS_CACHE to a folder in which you may write"
CACHE_ELSEWHERE = f"set {_OTHER_CACHE}"
"""The fix if a file in the cache cannot be written."""

_REPAIRS = {
    errno.ENOSPC: "free space there",
    errno.EDQUOT: "free space there",
    errno.EACCES: "change the permissions",
    errno.EPERM: "change the permissions",
}
"""What to do about a path that cannot be read or written, by the number of the error."""
_PACKAGE = Path(__file__).resolve().parent


def given_folder(folder: object, name: str) -> Path:
    """Return the folder in the argument `name`; reject a value that is not a path."""
    if not isinstance(folder, str | Path):
        raise UsageError(f"{name}={folder!r}: must be a path, as text or a pathlib.Path")
    return Path(folder)


def data_folder(name: str) -> Path:
    """Return the folder `kernels`, `instances`, ... in the installed package or next to it."""
    inside = _PACKAGE / "_data" / name
    return inside if inside.is_dir() else _PACKAGE.parent / name


def cache_folder(name: str) -> Path:
    """Return a folder in the cache of the user, which is in `ISLANDS_CACHE` if this is set.

    Create missing folders with access for this user only.
    """
    root = os.environ.get("ISLANDS_CACHE")
    folder = (Path(root) if root else user_cache_path("islands")) / name
    try:
        missing = [parent for parent in folder.parents if not parent.exists()]
        for path in (*reversed(missing), folder):
            path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        reason = system_reason(error)
        if isinstance(error, FileExistsError | NotADirectoryError):
            existing = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
            reason = f"{existing} is not a folder"
        raise InputError(
            f"cannot create the cache folder {folder}: {reason}. Set {_OTHER_CACHE}"
        ) from error
    return folder


def without_gz(name: str) -> str:
    """Return a file name without a final `.gz`."""
    return name[: -len(".gz")] if name.lower().endswith(".gz") else name


def suffix_of(name: str) -> str:
    """Return the suffix of a file name without `.gz`, in lower case."""
    return Path(without_gz(name)).suffix.lower()


def files_in(folder: Path) -> list[tuple[str, Path]]:
    """Return the names without `.gz` and the paths of all files in a folder and its subfolders.

    Hidden files and folders are left out; the others are in alphabetical order.
    """
    paths = []
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        names = sorted(name for name in files if not name.startswith("."))
        paths += [(without_gz(name), Path(root, name)) for name in names]
    return paths


def expanded(name: str) -> Path:
    """Return the path `name`, with `~` expanded."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        raise InputError(f"{name}: there is no such user. Write the path in full") from None


def reading(path: Path | str) -> AbstractContextManager[None]:
    """Turn an `OSError` inside the block into an `InputError` that names `path` and the fix.

    Do the same with the `ValueError` that Python raises for a name that no file can have.
    """
    return _naming(path, InputError, "", "specify a file that can be read")


def writing(path: Path | str, fix: str = _ELSEWHERE) -> AbstractContextManager[None]:
    """Turn an `OSError` inside the block into an `UnwritableError` that names `path` and `fix`."""
    return _naming(path, UnwritableError, "cannot be written: ", fix)


@contextmanager
def _naming(path: Path | str, kind: type[InputError], fault: str, fix: str) -> Iterator[None]:
    try:
        yield
    except (IslandsError, BrokenPipeError):  # the reader of a pipe is at fault, not the file
        raise
    except (OSError, ValueError) as error:
        reason = system_reason(error) if isinstance(error, OSError) else _impossible(path, error)
        repair = _REPAIRS.get(getattr(error, "errno", None) or 0)
        fixes = f"{repair}, or {fix}" if repair else fix
        raise kind(f"{path}: {fault}{reason}. {fixes[0].upper()}{fixes[1:]}") from error


def _impossible(path: Path | str, error: ValueError) -> str:
    """Return why no file can have this name; re-raise other errors."""
    if "\0" in str(path):
        return "the name contains a zero byte"
    if isinstance(error, UnicodeEncodeError):
        return "the name is not UTF-8"
    raise error


def publish(path: Path, text: str, fix: str = _ELSEWHERE, *, errors: str | None = None) -> None:
    """Write a text to a file atomically; `errors` is passed to `Path.write_text`."""
    with published(path, fix) as temporary:
        temporary.write_text(text, encoding="utf-8", errors=errors)


@contextmanager
def published(path: Path, fix: str = _ELSEWHERE) -> Iterator[Path]:
    """Yield a temporary path, which is renamed to `path` at the end of the block.

    If `path` is a device or a pipe, copy the content to it instead.
    """
    with writing(path, fix):
        is_special = path.exists() and not (path.is_file() or path.is_dir())
        path.parent.mkdir(parents=True, exist_ok=True)
        folder = None if is_special else path.parent
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=folder)
        os.close(handle)
    temporary = Path(name)
    try:
        try:
            yield temporary
        except OSError as error:
            # An error about another file, such as a missing compiler, is not about this path.
            if error.filename not in (None, name):
                raise
            with writing(path, fix):
                raise
        with writing(path, fix):
            if is_special:
                with temporary.open("rb") as source, path.open("wb") as target:
                    shutil.copyfileobj(source, target)
            else:
                temporary.chmod(0o666 & ~_umask())
                temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
