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


RAN = {"options": "--require-gpu tests/some", "passed": "ruff check, pytest"}
RAN |= {"failed": "", "skipped": "mypy"}
LINE = [word for name, value in RAN.items() for word in (f"--{name}", value)]


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """Return the report of pytest on one test of each outcome."""
    (tmp_path / "tests" / "some").mkdir(parents=True)
    (tmp_path / "tests" / "some" / "test_a.py").write_text(
        "import pytest\n"
        "def test_1(): pass\ndef test_2(): pass\ndef test_3(): assert False\n"
        "def test_4(): pytest.skip('no')\n"
        "@pytest.fixture\ndef broken(): raise ValueError\ndef test_5(broken): pass\n"
    )
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=report.xml"]
    line += ["--rootdir", "."]  # whatever lies in the folders above
    subprocess.run([*line, "tests"], cwd=tmp_path, capture_output=True, timeout=60)
    return tmp_path / "report.xml"


def test_the_record_counts_tests_and_digests(report: Path) -> None:
    evidence = script(ROOT / "tests" / "evidence")
    found = evidence.record([report, report], DIGESTS, RAN)
    assert found["tests"] == {"passed": 4, "failed": 4, "skipped": 2}
    assert found["failures"] == 2 * ["tests.some.test_a.test_3", "tests.some.test_a.test_5"]
    table = (ROOT / "tests" / "digests.csv").read_bytes()
    assert found["digests"] == {
        "runs": 52,
        "differ": 1,
        "failed": 0,
        "sha256": hashlib.sha256(table).hexdigest(),
    }
    assert {"date", "islands", "commit", "changed", "device", "driver", "versions"} <= set(found)
    assert found["options"] == RAN["options"]
    assert found["checks"] == {
        "passed": ["ruff check", "pytest"],
        "failed": [],
        "skipped": ["mypy"],
    }
    assert found["folders"] == ["tests/some"]
    assert len(found["sources"]) == 64
    json.dumps(found)
    with pytest.raises(SystemExit, match="did not end: killed"):
        evidence.digests("killed")


def test_the_page_shows_the_record(report: Path, tmp_path: Path) -> None:
    evidence, generate = script(ROOT / "tests" / "evidence"), script(ROOT / "docs" / "generate")
    record = tmp_path / "evidence.json"
    assert "no record" in generate.evidence(record)
    found = evidence.record([report], DIGESTS, RAN)
    found |= {"device": "1 x NVIDIA H200", "commit": "f" * 40}
    record.write_text(json.dumps(found))
    shown = generate.evidence(record)
    assert "| command | `tests/run --require-gpu tests/some` |" in shown
    assert "| folders | tests/some |" in shown
    assert "| checks | passed: ruff check, pytest; skipped: mypy |" in shown
    assert "| device | 1 x NVIDIA H200 |" in shown
    assert "| tests | 2 passed, 2 failed, 1 skipped |" in shown
    assert (
        "| failed tests of pytest | `tests.some.test_a.test_3`, `tests.some.test_a.test_5` |"
        in shown
    )
    assert "| digests | 52 runs, 1 differ, 0 failed |" in shown
    assert f"| commit | `{'f' * 12}`" in shown
    record.write_text(json.dumps(found | {"commit": None, "changed": None}))
    assert "| commit | unknown |" in generate.evidence(record)


def test_the_script_writes_the_record(
    report: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    evidence = script(ROOT / "tests" / "evidence")
    monkeypatch.setattr(evidence, "RECORD", tmp_path / "evidence.json")
    done = subprocess.CompletedProcess([], 0, DIGESTS.replace("1 digests", "0 digests"))
    monkeypatch.setattr(evidence, "compared", lambda: done)
    assert evidence.main([*LINE, str(tmp_path / "none.xml")]) == 1
    assert "pytest has written no" in capsys.readouterr().err
    assert not evidence.RECORD.exists()
    assert evidence.main([*LINE, str(report)]) == 1  # as a test has failed
    found = json.loads(evidence.RECORD.read_text())
    assert (found["options"], found["digests"]["differ"]) == (RAN["options"], 0)
