"""Scripts of others are not run, those of the user are; see also test_untrusted_routes.py."""

import shutil
from pathlib import Path

import copied_parts
import pytest
from commands_for_tests import Capture, Patch
from quick_plots import without_rendering
from scripts_for_tests import forget_parts

import islands
from islands.cli import main
from islands.custom.signature import is_signed

RUN = ["--algorithm", "ga", "--encoding", "keys", "--improver", "none", "--migration", "ring"]
RUN += ["--islands", "2", "--population", "8", "--backend", "cpu", "--threads", "1", "--quiet"]
PAYLOAD = """
from pathlib import Path
Path(__file__).with_name("ran").touch()
"""
PROBLEM = """
from synthetic import uniform_tsp
import islands
problem = islands.tsp(uniform_tsp(9, seed=1).coordinates)
"""
COLONIES = """
[[colony]]
islands = 2
crossover = "evil/payload.py:Spread"
"""


pytestmark = pytest.mark.usefixtures("own_cache")


def script(path: str) -> None:
    text = Path(copied_parts.__file__).read_text() + PROBLEM + PAYLOAD
    Path(path).write_text(text)


def evil() -> Path:
    """Return the folder of a stopped run whose settings were changed by others."""
    line = ["demo/tsp", *RUN, "--crossover", "uniform", "--stop", "generations=3"]
    assert main(["run", *line, "--out", "evil"]) == 0
    Path("evil/solution.parquet").unlink()
    settings = Path("evil/run.toml")
    text = settings.read_text().rpartition("# SHA-256")[0]
    assert 'crossover = "uniform"' in text
    settings.write_text(text.replace('"uniform"', '"evil/payload.py:Spread"'))
    script("evil/payload.py")
    return settings


def rejected(capsys: Capture, *line: str) -> str:
    """Return the error of a command that must not run a script."""
    capsys.readouterr()
    assert main([*line]) == 2
    assert not Path("evil/ran").exists()
    assert not Path("x").exists()
    return capsys.readouterr().err


BEGIN = ["run", "--config", "evil/run.toml"]


@pytest.mark.parametrize("line", [["resume", "evil"], [*BEGIN, "--out", "x"]])
def test_a_part_that_is_named_does_not_let_others_run(capsys: Capture, line: list[str]) -> None:
    settings = evil()
    text = settings.read_text().replace("evil/payload.py:Spread", "uniform")
    script("mine.py")
    settings.write_text(text.replace("uniform", "mine.py:Spread") + COLONIES)
    named = ["--crossover", "mine.py:Spread"]
    assert "evil/payload.py:Spread (crossover)" in rejected(capsys, *line, *named)


STATED = """
import islands
COST = "__device__ long long cost(const Solution& s, int n, const Data&) { return s[0]; }"
text = islands.permutation(9, cost=COST)
python = islands.permutation(9, function=lambda s: int(s[0]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["text", "python"])
def test_report_does_not_run_the_script_of_changed_settings(name: str) -> None:
    """The problem in the folder is the user's own, and signed, but not the name of its script."""
    Path("mine.py").write_text(STATED)
    few = {"generations": 3, "islands": 2, "population": 8, "backend": "cpu"}
    islands.solve(f"mine.py:{name}", out="own", **few)
    settings = Path("own/run.toml")
    text = settings.read_text().rpartition("# SHA-256")[0]
    assert str(Path("mine.py").resolve()) in text
    settings.write_text(text.replace("mine.py", "payload.py"))
    Path("payload.py").write_text(STATED + PAYLOAD)
    with without_rendering():
        for line in (["report", "own"], ["plot", "own"], ["resume", "own"]):
            main(line)
            assert not Path("ran").exists()
        assert main(["report", "own", "--trust"]) == 0
    assert Path("ran").exists()


@pytest.mark.parametrize("allows", [["--trust"], ["--crossover", "evil/payload.py:Spread"]])
@pytest.mark.parametrize("line", [["resume", "evil"], [*BEGIN, "--out", "x"]])
def test_it_is_run_with_trust_or_where_it_is_named(line: list[str], allows: list[str]) -> None:
    evil()
    # Without the state of a run with another crossover, the run begins again.
    shutil.rmtree("evil/checkpoints")
    assert main([*line, *allows, "--quiet"]) == 0
    assert Path("evil/ran").exists()


@pytest.mark.slow
def test_runs_of_ones_own_need_nothing(capsys: Capture, monkeypatch: Patch) -> None:
    script("mine.py")
    own = ["mine.py:problem", *RUN, "--crossover", "mine.py:Spread"]
    for more in ([], ["--runs", "2"]):
        out = ["--out", f"own{len(more)}"]
        assert main(["run", *own, *more, "--stop", "generations=3", *out]) == 0
        forget_parts()
        assert is_signed(Path("own0/run.toml").read_text())
    for line in (
        ["resume", "own0", "--stop", "generations=5"],
        ["resume", "own0"],  # it was signed again
        ["run", "--config", "own0/run.toml", "--stop", "generations=2"],
        ["run", *own, "--runs", "2", "--stop", "generations=3", "--out", "own2"],
    ):
        assert main([*line, "--quiet"]) == 0
        assert "not computed again" not in capsys.readouterr().out
        forget_parts()
    # On another machine, the user has another key, and the script can be named.
    monkeypatch.setenv("ISLANDS_CACHE", str(Path("elsewhere").resolve()))
    resume = ["resume", "own0", "--stop", "generations=7", "--quiet"]
    assert main(resume) == 2
    assert "mine.py:Spread (crossover)" in capsys.readouterr().err
    assert main([*resume, "--crossover", "mine.py:Spread"]) == 0
    forget_parts()
    assert main(["run", *own, "--runs", "2", "--stop", "generations=3", "--out", "own2"]) == 0
    forget_parts()
    assert main(["resume", "own0", "--stop", "generations=9", "--quiet"]) == 0


def test_the_best_settings_of_a_tuning_of_ones_own_are_signed(
    capsys: Capture, monkeypatch: Patch
) -> None:
    script("mine.py")
    line = ["--algorithm", "ga", "--crossover", "mine.py:Spread", "--encoding", "keys"]
    line += ["--islands", "2", "--population", "8", "--backend", "cpu", "--improver", "none"]
    over = ["--over", "mutation_rate=0.1,0.2", "--configurations", "2", "--runs", "1", "--quiet"]
    stop = ["--stop", "generations=2"]
    assert main(["tune", "demo/tsp", *line, *over, *stop, "--out", "tuned"]) == 0
    forget_parts()
    best = ["run", "demo/tsp", "--config", "tuned/best.toml", "--quiet", *stop]
    assert main([*best, "--out", "one"]) == 0
    forget_parts()
    monkeypatch.setenv("ISLANDS_CACHE", str(Path("elsewhere").resolve()))
    assert main([*best, "--out", "two"]) == 2
    assert "mine.py:Spread (crossover)" in capsys.readouterr().err


def test_settings_are_not_signed_for_a_script_that_was_not_run() -> None:
    """Otherwise, resuming a run of others, whose problem is only data, would sign its scripts."""
    script("mine.py")
    assert main(["run", "mine.py:problem", *RUN, "--stop", "generations=3", "--out", "own"]) == 0
    forget_parts()
    settings = Path("own/run.toml")
    text = settings.read_text().rpartition("# Signed")[0].replace("mine.py", "payload.py")
    settings.write_text(text)
    assert main(["resume", "own", "--stop", "generations=5", "--quiet"]) == 0
    assert f'"{Path("payload.py").resolve()}:problem"' in settings.read_text()
    assert "# SHA-256" in settings.read_text()
    assert not is_signed(settings.read_text())


def test_a_series_does_not_run_the_scripts_in_its_folder(capsys: Capture) -> None:
    series = ["run", "demo/tsp", *RUN, "--runs", "2", "--stop", "generations=3", "--out", "all"]
    assert main(series) == 0
    settings = evil()
    shutil.copy(settings, "all/tsp-seed1/run.toml")
    Path("all/tsp-seed1/solution.parquet").unlink()
    assert "evil/payload.py:Spread (crossover)" in rejected(capsys, *series)
