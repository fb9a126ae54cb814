"""A job with --force that is submitted again: it continues its run unless that is done."""

from __future__ import annotations

from pathlib import Path

import pytest

from islands.slurm.command_line import CommandWords
from islands.slurm.jobs import JobAttempts
from islands.slurm.run_job import continues

WORDS = ["demo/tsp", "--stop", "generations=5"]


@pytest.mark.parametrize(
    ("status", "goes_on"),
    [(75, True), (137, True), (None, True), (1, True), (0, False)],
    ids=["suspended", "killed", "its node was lost", "failed", "done"],
)
@pytest.mark.parametrize("job", ["5", "6"])
def test_force_repeats_only_a_run_that_is_done(
    status: int | None, goes_on: bool, job: str, tmp_path: Path
) -> None:
    words = [*WORDS, "--force", "--out", str(tmp_path)]
    attempts = JobAttempts(tmp_path)
    attempt = attempts.begin("5", words, holds_run=True)
    if status is not None:
        attempts.end(attempt, status)
    # The same job, requeued, never begins anew.
    found = continues(CommandWords(words), tmp_path, attempts, job)
    assert found == (goes_on or job == "5")


def test_force_begins_anew_after_a_job_with_other_options(tmp_path: Path) -> None:
    attempts = JobAttempts(tmp_path)
    attempts.end(attempts.begin("5", [*WORDS, "--out", str(tmp_path)], holds_run=True), 75)
    other = CommandWords([*WORDS, "--seed", "2", "--force", "--out", str(tmp_path)])
    assert not continues(other, tmp_path, attempts, "6")
