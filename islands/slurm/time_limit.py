"""Time limits of jobs, as users and as sbatch write them."""

from __future__ import annotations

import re

from islands.text import seconds

_OF_SLURM = re.compile(r"(\d+-)?\d+(:\d\d){1,2}|\d+-\d+")


def time_limit(text: str) -> str:
    """Return a time limit as sbatch takes it: 01:00:00 for `1h`."""
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


def seconds_of(limit: str) -> int:
    """Return the seconds of a time limit of sbatch."""
    days, dash, clock = limit.rpartition("-")
    parts = [int(each) for each in clock.split(":")]
    if not dash and len(parts) == 2:
        parts = [0, *parts]  # minutes and seconds
    hours, minutes, rest = (*parts, 0, 0)[:3]
    return int(days or 0) * 86400 + hours * 3600 + minutes * 60 + rest
