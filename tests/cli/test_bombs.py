"""Small folders with huge files: every command ends soon, in little memory, or says why not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from checked_pages import experiment

import islands
from islands.campaign.series import COLUMNS
from islands.record.files import write_table
from islands.record.parquet import read_parquet, write_parquet

SECONDS, BYTES = 10.0, 1 << 30
SMALL = {"algorithm": "ga", "population": 16, "islands": 2, "backend": "cpu", "improver": "none"}
STREAM = "trace/rank-000.1.unfinished.arrows"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "a"
    islands.solve("demo/tsp", generations=20, seed=2, interval=5, out=folder, **SMALL)
    return folder


def gaps(path: Path, start: bytes = b"") -> None:
    """Write a file of 5 GB that takes no space on the disk."""
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as stream:
        stream.write(start)
        stream.truncate(5 << 30)


def equal_rows(path: Path, rows: int) -> None:
    """Replace the rows of a Parquet file by equal ones, without a checksum."""
    schema = pq.read_schema(path)
    part = pa.table([pa.array(np.zeros(1 << 20), f.type, safe=False) for f in schema], schema)
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(-(-rows // (1 << 20))):
            writer.write_table(part, row_group_size=1 << 20)


def unfinished(run: Path) -> pa.Schema:
    """Turn the run into one that has been interrupted; return the columns of its trace."""
    (run / "solution.parquet").unlink()
    return read_parquet(run / "trace" / "rank-000.parquet").schema


def long_solution(run: Path) -> None:
    equal_rows(run / "solution.parquet", (1 << 24) + 1)


def long_trace(run: Path) -> None:
    equal_rows(run / "trace" / "rank-000.parquet", (1 << 24) + 1)


def long_words(run: Path) -> None:
    """Write migrants whose transport is a long word, which the file contains once."""
    path = run / "migrations" / "rank-000.parquet"
    rows = read_parquet(path)
    place = rows.column_names.index("transport")
    words = pa.array(["w" * 900_000] * len(rows))
    rows = rows.set_column(place, rows.schema.field(place), words)
    more = pa.concat_tables([rows] * 200).replace_schema_metadata(rows.schema.metadata)
    write_parquet(path, [more.slice(0, 2000)], more.schema)
    assert path.stat().st_size < 1 << 20


def large_problem(run: Path) -> None:
    with zipfile.ZipFile(run / "problem.npz", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("signature.npy", b"")
        with file.open("a.npy", "w") as stream:
            for _ in range(600):
                stream.write(bytes(1 << 20))


def gaps_in_a_stream(run: Path) -> None:
    schema = unfinished(run)
    sink = pa.BufferOutputStream()
    pa.ipc.new_stream(sink, schema.with_metadata(None))
    gaps(run / STREAM, sink.getvalue().to_pybytes())


def compressed_stream(run: Path) -> None:
    schema = unfinished(run)
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    part = pa.table([pa.array(np.zeros(1 << 20), f.type, safe=False) for f in schema], schema)
    with (run / STREAM).open("wb") as sink, pa.ipc.new_stream(sink, schema, options=options) as out:
        for _ in range(16):
            out.write_table(part)
    assert (run / STREAM).stat().st_size < 1 << 20


def large_manifest(run: Path) -> None:
    gaps(next(run.glob("checkpoints/*/manifest.json")))


def compressed_checkpoint(run: Path) -> None:
    """Replace a checkpoint by one with two gigabytes of zeros, and correct its manifest."""
    from islands.record.checkpoint import content_digest, digest

    path = next(run.glob("checkpoints/*/rank-000.npz"))
    with np.load(path) as earlier:
        names = earlier.files
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file,
        file.open(f"{names[0]}.npy", "w", force_zip64=True) as stream,
    ):
        header = {"descr": "<i8", "fortran_order": False, "shape": (2, 1 << 27)}
        np.lib.format.write_array_header_1_0(stream, header)
        for _ in range(2048):
            stream.write(bytes(1 << 20))
    manifest = path.parent / "manifest.json"
    values = json.loads(manifest.read_text())
    values["parts"][0] |= {"bytes": path.stat().st_size, "sha256": digest(path)}
    del values["sha256"]
    manifest.write_text(json.dumps(values | {"sha256": content_digest(values)}))


def pipe(name: str) -> Callable[[Path], None]:
    def make(run: Path) -> None:
        (run / name).unlink(missing_ok=True)
        os.mkfifo(run / name)

    return make


def of_gaps(name: str) -> Callable[[Path], None]:
    return lambda run: gaps(run / name)


READS = ("status", "report", "export")
BOMBS: dict[str, tuple[Callable[[Path], None], tuple[str, ...], str]] = {
    "rows of the solution": (long_solution, ("status", "report", "resume"), "17825792 rows, more"),
    "rows of the trace": (long_trace, ("report", "export"), "17825792 rows, more"),
    "long words": (long_words, ("report", "export migrations"), "has more than 256 bytes"),
    "arrays of the problem": (large_problem, ("plot", "verify", "resume"), "add --trust"),
    "arrays of a problem in a page": (large_problem, ("report",), "Wrote"),
    "log": (of_gaps("log.txt"), ("status", "watch"), ""),
    "settings": (of_gaps("run.toml"), ("report", "export"), "run.toml: is damaged"),
    "stream of gaps": (gaps_in_a_stream, ("status", "report", "export"), ""),
    "compressed stream": (compressed_stream, ("status", "report", "export"), ""),
    "manifest": (large_manifest, ("resume",), ""),
    "compressed checkpoint": (compressed_checkpoint, ("resume --stop generations=30",), "compress"),
    "attempts": (of_gaps("slurm/attempts.jsonl"), ("status",), "attempts.jsonl"),
    "job": (of_gaps("slurm/job.json"), ("status",), "job.json"),
    "pipe instead of the log": (pipe("log.txt"), ("status", "watch", "resume"), ""),
    "pipe instead of the settings": (pipe("run.toml"), READS, ""),
    "pipe instead of the solution": (pipe("solution.parquet"), ("status", "report"), "is a pipe"),
    "gaps in the solution file": (of_gaps("solution.tour"), ("verify",), "solution.tour"),
}


LAUNCHER = """
import json, resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "islands", *sys.argv[1:]], stderr=subprocess.STDOUT)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss]), file=sys.stderr)
"""
"""Runs a command from a small process, as the memory of the parent would count as well."""


def run_within_limits(command: list[str]) -> str:
    """Run a command, check its time and memory, and return what it printed."""
    line = [sys.executable, "-c", LAUNCHER, *command]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300)
    seconds, size = json.loads(done.stderr)
    assert seconds < SECONDS, done.stdout
    assert size < BYTES, done.stdout
    assert "unexpected" not in done.stdout
    return done.stdout


@pytest.mark.parametrize("name", BOMBS)
def test_a_command_ends_soon_or_says_why_not(name: str, finished: Path, tmp_path: Path) -> None:
    make, commands, message = BOMBS[name]
    run = tmp_path / "a"
    shutil.copytree(finished, run)
    make(run)
    for words in commands:
        command, *others = words.split()
        if command == "verify":
            others = [str(run)]
            line = ["verify", str(run) if (run / "problem.npz").exists() else "demo/tsp", *others]
        elif command == "export":
            line = ["export", str(run), *others, "--csv", str(tmp_path / "trace.csv")]
        else:
            line = [command, str(run), *others]
        assert message in run_within_limits(line), words


def test_the_tables_of_other_work_may_be_huge(tmp_path: Path) -> None:
    series = tmp_path / "ten"
    series.mkdir()
    write_table(series / "runs.tsv", COLUMNS, [dict.fromkeys(COLUMNS, "1")])
    with (series / "runs.tsv").open("r+b") as stream:
        stream.truncate(5 << 30)
    again = ["run", "demo/tsp", "--seed", "1", "--runs", "2", "--backend", "cpu"]
    words = run_within_limits([*again, "--out", str(series)])
    assert "runs.tsv: has more than" in words
    measured = tmp_path / "measured"
    measured.mkdir()
    gaps(measured / "runs.jsonl")
    assert "0 runs" not in run_within_limits(["status", str(measured)])
    for name in ("table1.csv", "table1.txt", "table1.svg", "settings.toml", "provenance.json"):
        folder = tmp_path / f"of-{name}"
        folder.mkdir()
        experiment(folder)
        gaps(folder / name)
        run_within_limits(["report", str(folder)])
