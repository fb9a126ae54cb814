from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import product

import pytest
from standing_ranks import StandingRanks

from islands.bench import migration as module
from islands.bench.base import BenchRequest
from islands.bench.migration import End, EndRow, ScalingRow, TimedArchipelago, measure
from islands.cli import main
from islands.migration import MigrationTimes
from islands.parallel import world

SMALL = {
    "instances": ("demo/tsp",),
    "islands_a_rank": 2,
    "population": 16,
    "interval": 3,
    "seconds": 1e-3,
}
ROW_BYTES = 16 + 4 * 120


def test_one_rank_is_compared_with_itself(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["bench", "migration", "--backend", "cpu", "--threads", "1", "--json"]
    line += ["--instances", "demo/tsp", "--islands-a-rank", "2", "--population", "16"]
    assert main([*line, "--interval", "3", "--seconds", "0.001"]) == 0
    tables = json.loads(capsys.readouterr().out)
    scaling, ends = tables["scaling"], tables["epoch_ends"]
    assert [(row["scaling"], row["islands"], row["delay"]) for row in scaling] == [
        *(("weak", 2, 0), ("weak", 2, 1), ("strong", 64, 0), ("strong", 64, 1))
    ]
    for row in scaling:
        assert (row["ranks"], row["of_one"], row["size"]) == (1, 1.0, 120)
        assert row["generations"] % 3 == 0
        assert row["rate"] > 0
    assert [(row["delay"], row["transport"], row["bytes"]) for row in ends] == [
        *((0, "device", 0), (1, "device", 0))
    ]
    for row in ends:
        assert min(row[name] for name in ("pack", "unpack", "end", "epoch")) > 0


def test_only_rank_0_prints(standing_ranks: StandingRanks) -> None:
    line = ["-m", "islands", "bench", "migration", "topologies"]
    line += ["--backend", "cpu", "--threads", "1", "--instances", "demo/tsp", "--json"]
    line += ["--islands-a-rank", "2", "--population", "16", "--interval", "3"]
    line += ["--seconds", "0.001", "--islands", "8"]
    done = standing_ranks.run(2, *line)
    assert done.returncode == 0, done.stderr
    tables = json.loads(done.stdout)
    assert [row["ranks"] for row in tables["scaling"]] == [*[1, 2] * 4, 2]
    assert len(tables["topologies"]) == 6


@pytest.mark.mpi(min_size=2)
def test_every_number_of_ranks_is_measured_and_all_ranks_get_the_rows() -> None:
    ranks = world()
    request = BenchRequest(world=ranks, backends=["cpu"], threads=1, **SMALL)
    rows = list(measure(request))
    assert ranks.allgather(rows) == [rows] * ranks.size
    counts = sorted({1, 2, ranks.size})
    *scaling, apart = (row for row in rows if isinstance(row, ScalingRow))
    assert (apart.scaling, apart.ranks, apart.islands) == ("apart", ranks.size, 2)
    assert [(row.scaling, row.delay, row.ranks) for row in scaling] == [
        *product(("weak", "strong"), (0, 1), counts)
    ]
    for row in scaling:
        assert row.islands == (2 * row.ranks if row.scaling == "weak" else 64)
        alone = next(r for r in scaling if (r.scaling, r.delay) == (row.scaling, row.delay))
        assert row.of_one == pytest.approx(row.rate / alone.rate)
    ends = [row for row in rows if isinstance(row, EndRow)]
    assert [(row.delay, row.ranks) for row in ends] == [*product((0, 1), counts)]
    for end in ends:
        # In a ring, the last island of a block sends its two migrants to the next rank.
        assert end.bytes == (2 * ROW_BYTES if end.ranks > 1 else 0)
        assert end.transport == ("staged" if end.ranks > 1 else "device")


class Clock:
    def __init__(self) -> None:
        self.now = 10.0

    def perf_counter(self) -> float:
        return self.now


@dataclass
class Arrived:
    phases: MigrationTimes
    bytes: int = 512


class Slow:
    """An archipelago whose methods advance a test clock by different times."""

    transport = "staged"

    def __init__(self, clock: Clock) -> None:
        self._clock, self._launched = clock, 0.0

    def advance(self, generations: int) -> None:
        self._launched += generations * 0.5

    def wait(self) -> None:
        self._clock.now += self._launched
        self._launched = 0.0

    def migrate(self) -> None:
        self._clock.now += 0.25

    def measure(self) -> str:
        self.wait()
        self._clock.now += 0.125
        return "measures"

    def arrivals(self) -> Arrived:
        return Arrived(MigrationTimes(pack=0.03125, transport=0.125, unpack=0.0625))


def test_an_end_is_the_time_between_generations(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    timed = TimedArchipelago(Slow(clock))  # type: ignore[arg-type]
    for migrates in (True, False, True, True, False):
        timed.advance(2)
        # The loop of a run requests arrivals after it launched the next generations.
        timed.arrivals()
        timed.advance(2)
        if migrates:
            timed.migrate()
        assert timed.measure() == "measures"
    assert timed.transport == "staged"
    whole = 0.25 + 0.125
    phases = {"pack": 0.03125, "transport": 0.125, "unpack": 0.0625, "migrant_bytes": 512}
    # The first end has no previous one; some epochs are measured in two steps.
    assert timed.ends == [
        End(**phases, whole=whole, epoch=2 * 2.0 + 0.125 + whole),
        End(**phases, whole=whole, epoch=2.0 + whole),
    ]
