"""The parts of CONTRIBUTING.md work in a copy of the package to which they are added as it says."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT, blocks

_FILE = re.compile(r"(?:#|//) ((?:islands|kernels)/\S+)\n")
_ENTRY = re.compile(r"^(\w+) = ([({])\.\.\., (.*)[)}]$", re.MULTILINE)

_RUNS = """
import islands
from islands.migration.topology import TOPOLOGIES, Scene
from islands.problems.table import Table

few = {"backend": "cpu", "islands": 3, "population": 16, "generations": 20}
ga = {"algorithm": "ga", "encoding": "keys", "crossover": "every_other"}
print(islands.solve("ring.xy", **ga, migration="line", interval=2, **few).generations)
print(TOPOLOGIES["line"].sources(Scene(4, 1, 1), range(4)).ravel().tolist())
print(islands.solve("ring.xy", algorithm="climber", exchanges=2, **few | {"generations": 200}).cost)
print(islands.solve(Table(), **few).cost > 0)
"""


def add(block: str, root: Path) -> None:
    """Do what a block says: write a new file, or add to each file that it names."""
    _, *parts = _FILE.split(block)
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        file = root / name
        if not file.exists():
            file.write_text(text, encoding="utf-8")
            continue
        ((entries, bracket, _),) = _ENTRY.findall(text)
        adding = r"\1 += (\3,)" if bracket == "(" else r"\1 |= {\3}"
        lines = file.read_text(encoding="utf-8").splitlines()
        lines.insert(_end_of(entries, lines), _ENTRY.sub(adding, text))
        file.write_text("\n".join(lines), encoding="utf-8")


def _end_of(name: str, lines: list[str]) -> int:
    for node in ast.parse("\n".join(lines)).body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(each, ast.Name) and each.id == name for each in targets):
                return node.end_lineno
    raise AssertionError(f"{name} is not assigned")


@pytest.mark.slow
def test_the_parts_of_the_page_work_in_the_package(tmp_path: Path) -> None:
    for name in ("islands", "kernels", "instances"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    (table,) = [each for each in blocks(ROOT / "docs" / "parts.md") if each.file == "table.py"]
    problem = table.text[: table.text.index("\ntable = ")]
    (tmp_path / "islands" / "problems" / "table.py").write_text(problem, encoding="utf-8")
    for block in blocks(ROOT / "CONTRIBUTING.md"):
        if block.language in ("cpp", "python"):
            add(block.text, tmp_path)
    # The shortest tour visits these cities in a circle.
    cities = [(0, 0), (100, 0), (200, 100), (200, 200), (100, 300), (0, 300), (-100, 200)]
    scattered = [cities[3 * place % 7] for place in range(7)]
    (tmp_path / "ring.xy").write_text("".join(f"{x} {y}\n" for x, y in scattered))
    command = [sys.executable, "-c", _RUNS]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    length = 3 * 100 + 3 * 141 + 224
    assert ran.stdout.splitlines()[-4:] == ["20", "[-1, 0, 1, 2]", str(length), "True"]
