"""Runs with more generations than 32 bits can count."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starts_for_tests import FAR, shifted_state

from islands.cli import main
from islands.record.checkpoint import Manifest, digest, newest_first
from islands.record.folder import CHECKPOINTS, MANIFEST

RUN = ["run", "demo/tsp", "--population", "16", "--islands", "3", "--backend", "cpu"]
RUN += ["--threads", "1", "--improver", "none", "--migration", "random", "--interval", "4"]


def done(capsys: pytest.CaptureFixture[str], *line: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*line, "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out))


def postpone_checkpoint(run: Path, by: int) -> None:
    """Add a checkpoint of the same islands with the given number of generations more."""
    before = run / CHECKPOINTS / newest_first(run)[0]
    identity = json.loads((before / MANIFEST).read_text())["run"]
    manifest = Manifest.read(before, identity)
    generation = manifest.moment.generation + by
    after = before.with_name(f"{generation:012}.{manifest.start}")
    after.mkdir()
    (part,) = manifest.parts
    path = after / part.file
    with np.load(before / part.file) as saved:
        np.savez(path, **shifted_state(saved, by))  # type: ignore[arg-type]
    part = replace(part, bytes=path.stat().st_size, sha256=digest(path))
    moment = replace(manifest.moment, generation=generation)
    replace(manifest, moment=moment, parts=(part,)).write(after)


def test_resumed_run_draws_new_random_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    done(capsys, *RUN, "--stop", "generations=8", "--out", "a")
    for name in ("b", "c"):
        shutil.copytree("a", name)
    for name in ("b", "c"):
        postpone_checkpoint(Path(name), FAR)
    early = done(capsys, "resume", "a", "--stop", "generations=20")
    late = done(capsys, "resume", "b", "--stop", f"generations={FAR + 20}")
    assert late["generations"] == FAR + 20
    assert late["digest"] != early["digest"]
    for stop in (FAR + 11, FAR + 20):
        again = done(capsys, "resume", "c", "--stop", f"generations={stop}")
    assert again["digest"] == late["digest"]
