"""The record of a test run on a GPU, and the table that shows it."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from scripts_for_tests import script

ROOT = Path(__file__).parents[1]
DIGESTS = "1 ranks: demo/tsp\n    ab, not cd\n52 runs, 1 digests differ, 0 runs failed, 99 s\n"


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """Return the report of pytest on one test of each outcome."""
    (tmp_path / "test_a.py").write_text(
        "import pytest\n"
        "def test_1(): pass\ndef test_2(): pass\ndef test_3(): assert False\n"
        "def test_4(): pytest.skip('no')\n"
        "@pytest.fixture\ndef broken(): raise ValueError\ndef test_5(broken): pass\n"
    )
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=report.xml"]
    subprocess.run([*line, "test_a.py"], cwd=tmp_path, capture_output=True, timeout=60)
    return tmp_path / "report.xml"


def test_the_record_counts_tests_and_digests(report: Path) -> None:
    evidence = script(ROOT / "tests" / "evidence")
    found = evidence.record([report, report], DIGESTS)
    assert found["tests"] == {"passed": 4, "failed": 4, "skipped": 2}
    table = (ROOT / "tests" / "digests.csv").read_bytes()
    assert found["digests"] == {
        "runs": 52,
        "differ": 1,
        "failed": 0,
        "sha256": hashlib.sha256(table).hexdigest(),
    }
    assert {"date", "islands", "commit", "changed", "device", "driver", "versions"} <= set(found)
    json.dumps(found)
    with pytest.raises(SystemExit, match="did not end: killed"):
        evidence.digests("killed")


def test_the_page_shows_the_record(report: Path, tmp_path: Path) -> None:
    evidence, generate = script(ROOT / "tests" / "evidence"), script(ROOT / "docs" / "generate")
    record = tmp_path / "evidence.json"
    assert "no record" in generate.evidence(record)
    found = evidence.record([report], DIGESTS) | {"device": "1 x NVIDIA H200", "commit": "f" * 40}
    record.write_text(json.dumps(found))
    shown = generate.evidence(record)
    assert "| device | 1 x NVIDIA H200 |" in shown
    assert "| tests | 2 passed, 2 failed, 1 skipped |" in shown
    assert "| digests | 52 runs, 1 differ, 0 failed |" in shown
    assert f"| commit | `{'f' * 12}`" in shown
