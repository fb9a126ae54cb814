"""Run the experiments of papers and compare the results with the published tables."""

from __future__ import annotations

PAPERS = {
    "xavier2019": "islands.reproduce.xavier2019",
    "jardim2021": "islands.reproduce.jardim2021",
    "soca2010": "islands.reproduce.soca2010",
    "dantas2014": "islands.reproduce.dantas2014",
    "munhao2019": "islands.reproduce.munhao2019",
}
"""Names of the papers; each module has a constant `PAPER`."""
