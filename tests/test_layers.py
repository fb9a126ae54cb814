"""The layers of the package, and the only modules that may import heavy packages."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import islands

ROOT = Path(islands.__file__).parent

# A part imports those of the layers before its own, and those before it in its layer.
LAYERS = [
    ("text", "errors", "calls", "paths", "inside"),
    ("settings", "untrusted", "tables", "presets", "statistics", "space"),
    ("backends", "instances", "custom", "parallel"),
    ("problems", "encodings", "improvers", "algorithms"),
    ("modelling", "models", "bounds"),
    ("migration", "archipelago"),
    ("progress", "keywords", "configuration"),
    ("record", "display"),
    ("engine", "cells"),
    ("report", "check", "doctor", "solver", "stored", "many"),
    ("dimod", "networkx", "scipy", "shops", "frames"),
    (
        *("studies", "studies.described", "studies.significance", "studies.pages"),
        *("studies.bench", "studies.papers", "studies.clusters"),
    ),
    ("cli",),
    ("testing", "__main__"),
]
LEVEL = {name: level for level, name in enumerate(name for names in LAYERS for name in names)}

STUDIES = {
    "bench": {"described", "pages", "significance"},
    "papers": {"described", "pages", "significance"},
    "pages": {"described", "significance"},
    "clusters": {"described"},
}
"""The studies, and what else of the folder each imports."""
OF_STUDIES = {"bench", "bench_options", "completion", "follow", "job", "report", "reproduce"}
"""The modules of `islands.cli` that import studies: those of commands, imported when called."""

IMPORTERS = {
    "mpi4py": ("parallel",),
    "cupy": ("backends/gpus.py",),
    "argcomplete": ("cli/completion.py",),
    "jinja2": ("report/page.py",),
    "matplotlib": ("report/figure.py", "models/drawing.py"),
    "pynvml": ("backends/gpus.py",),
}
"""The only files or folders that import a package."""
LATE = {
    "argcomplete",
    "cupy",
    "jinja2",
    "mpi4py",
    "pyarrow",
    "pooch",
    "matplotlib",
    "tomli_w",
    "pynvml",
    "scipy",
}
"""Packages that are imported only inside functions, so that the command line starts quickly."""


def modules() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if "_data" not in path.parts)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").as_posix()


@cache
def imports(path: Path, *, top_only: bool = False) -> list[str]:
    """Return the full names of imported modules, also of those for type checking only."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = list[str]()
    for node in tree.body if top_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            found += (f"{node.module}.{alias.name}" for alias in node.names)
    return found


def part(name: str) -> str:
    """Return the name in the layers of `islands.settings` or `settings`."""
    words = name.removeprefix("islands.").replace("/", ".").removesuffix(".__init__").split(".")
    return ".".join(words[:2] if words[0] == "studies" else words[:1])


@pytest.mark.slow
def test_modules_import_only_lower_layers() -> None:
    for path in modules():
        own = part(name_of(path))
        if own == "__init__":
            continue  # contains only names, each imported at first use
        assert own in LEVEL, f"islands/{own} has no layer: add it to LAYERS"
        for name in imports(path):
            if name.startswith("islands.") and part(name) in LEVEL and part(name) != own:
                assert LEVEL[part(name)] < LEVEL[own], f"{name_of(path)} imports {name}"


@pytest.mark.slow
def test_only_commands_import_studies() -> None:
    for path in modules():
        folder, _, own = name_of(path).rpartition("/")
        studies = {part(name) for name in imports(path) if name.startswith("islands.studies")}
        if folder == "cli":
            assert not studies or own in OF_STUDIES, f"{name_of(path)} imports {studies}"
        elif folder.startswith("studies/"):
            study = folder.split("/")[1]
            allowed = {f"studies.{each}" for each in (study, *STUDIES[study])}
            assert studies <= allowed, f"{name_of(path)} imports {studies - allowed}"
        else:
            assert not studies, f"{name_of(path)} imports {studies}"


@pytest.mark.slow
def test_files_import_each_other_without_cycles() -> None:
    files = {dotted(path): path for path in modules() if path != ROOT / "__init__.py"}
    imported = {name: set(_imported(path, files)) - {name} for name, path in files.items()}
    assert len(list(TopologicalSorter(imported).static_order())) == len(files)


def dotted(path: Path) -> str:
    return f"islands.{name_of(path)}".replace("/", ".").removesuffix(".__init__")


def _imported(path: Path, files: dict[str, Path]) -> Iterator[str]:
    for name in imports(path):
        module = name if name in files else name.rpartition(".")[0]
        if module in files:
            yield module


@pytest.mark.slow
def test_heavy_packages_are_imported_late_and_by_their_importers_only() -> None:
    for path in modules():
        for name in imports(path):
            package = name.split(".")[0]
            if package in IMPORTERS:
                is_allowed = any(path.is_relative_to(ROOT / each) for each in IMPORTERS[package])
                assert is_allowed, f"{name_of(path)} imports {package}"
        for name in imports(path, top_only=True):
            assert name.split(".")[0] not in LATE, f"{name_of(path)} imports {name} at top level"


NOT_FOR_HELP = {*LATE, "numpy", "importlib.metadata", "islands.engine", "islands.problems"}
NOT_FOR_RUNS = {"islands.studies", *(f"islands.studies.{each}" for each in STUDIES)}


def loaded(code: str, names: set[str]) -> tuple[str, str]:
    """Return the standard output of a process, and the given modules that it imported."""
    watch = f"import atexit, sys\natexit.register(lambda: print([name for name in {sorted(names)}"
    watch += " if name in sys.modules], file=sys.__stderr__))\nimport islands\n"
    done = subprocess.run(
        [sys.executable, "-c", watch + code], capture_output=True, text=True, timeout=60
    )
    return done.stdout, done.stderr


def test_import_and_help_load_no_heavy_modules() -> None:
    code = "from islands.cli import main\nmain(['--help'])"
    out, error = loaded(code, NOT_FOR_HELP)
    assert error == "[]\n"
    assert out.startswith("usage: islands ")


def test_runs_and_their_commands_load_no_studies() -> None:
    code = "islands.solve('demo/tsp', backend='cpu', stop='generations=2')\n"
    code += "assert islands.solve_many and islands.resume\n"
    code += "from islands.cli import run, tune, verify, instances, doctor"
    assert loaded(code, NOT_FOR_RUNS) == ("", "[]\n")
