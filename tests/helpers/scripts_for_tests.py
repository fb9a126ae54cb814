"""Scripts imported as modules, and what they leave behind."""

import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from islands.custom.parts import PartKind


def script(path: Path) -> ModuleType:
    """Return a script, whose name may have no suffix, as a module."""
    loader = importlib.machinery.SourceFileLoader(path.name, str(path))
    spec = importlib.util.spec_from_loader(path.name, loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@contextmanager
def forgotten(folder: Path) -> Iterator[None]:
    """Forget at the end what was loaded from a folder, and the parts that it has registered.

    An environment of Python in the folder remains, as NumPy cannot be loaded twice.
    """
    before, paths = set(sys.modules), list(sys.path)
    yield
    sys.path[:] = paths
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file is None or "site-packages" in Path(file).parts:
            continue
        if Path(file).is_relative_to(folder):
            del sys.modules[name]
    forget_parts()


def forget_parts() -> None:
    """Remove the parts of scripts from this process, as in a new process."""
    for kind in PartKind.all:
        for name in kind.of_scripts:
            del kind.registry[name]
        kind.of_scripts.clear()
