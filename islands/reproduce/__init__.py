"""The papers' own experiments, run here, with what the papers printed beside ours."""

from __future__ import annotations

PAPERS = {"xavier2019": "islands.reproduce.xavier2019"}
"""Each paper's name and the module that holds its `PAPER`."""
