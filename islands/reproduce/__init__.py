"""The papers' own experiments, run here, with what the papers printed beside ours."""

from __future__ import annotations

PAPERS = {
    "xavier2019": "islands.reproduce.xavier2019",
    "jardim2021": "islands.reproduce.jardim2021",
    "soca2010": "islands.reproduce.soca2010",
    "dantas2014": "islands.reproduce.dantas2014",
    "munhao2019": "islands.reproduce.munhao2019",
}
"""Each paper's name and the module that holds its `PAPER`."""
