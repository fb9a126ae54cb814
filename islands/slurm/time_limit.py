"""Time limits of jobs, as users and as sbatch write them."""

from __future__ import annotations

import re

from islands.text import seconds

_OF_SLURM = re.compile(r"(\d+-)?\d+(:\d\d){1,2}|\d+-\d+")
_NOTICE_SECONDS = 120
"""The time before its limit at which a job writes a checkpoint."""


def time_limit(text: str) -> str:
    """Return a time limit in the form of sbatch: 01:00:00 for `1h`."""
    if _OF_SLURM.fullmatch(text):
        return text
    limit = 0.0
    if text[-1:].isalpha():
        try:
            limit = seconds(text)
        except ValueError:
            limit = 0.0
    if limit < 1:
        raise ValueError("must be a time such as 90s, 30m, 1h, 12:00:00 or 1-12:00:00")
    whole = round(limit)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"


def seconds_of(limit: str) -> int | None:
    """Return the seconds of a time limit of sbatch; None if it is of another form or unlimited."""
    if not (_OF_SLURM.fullmatch(limit) or limit.isdecimal()):
        return None
    days, dash, clock = limit.rpartition("-")
    parts = [int(each) for each in clock.split(":")]
    if not dash and len(parts) < 3:
        parts = [0, *parts]  # minutes, or minutes and seconds
    hours, minutes, rest = (*parts, 0, 0)[:3]
    return int(days or 0) * 86400 + hours * 3600 + minutes * 60 + rest


def signal_before(limit: str) -> str | None:
    """Return the value of sbatch --signal for a time limit, or None if the limit is unknown.

    The batch script receives SIGUSR1 two minutes before a long limit, and after three quarters of
    a short one.
    """
    limit_seconds = seconds_of(limit)
    if limit_seconds is None:
        return None
    return f"B:USR1@{max(1, min(_NOTICE_SECONDS, limit_seconds // 4))}"
