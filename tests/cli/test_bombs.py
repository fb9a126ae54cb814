"""Small folders with huge files: every command ends soon, with little memory, or rejects them."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from checked_pages import experiment
from starts_for_tests import rewritten

from islands.record.checkpoint import digest
from islands.record.parquet import read_parquet, write_parquet

SECONDS, BYTES = 10.0, 1 << 30
LONGEST = 300
"""The time limit of a command in seconds, including the time that it waits."""
STREAM = "trace/rank-000.1.unfinished.arrows"


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
    return pq.read_schema(run / "trace" / "rank-000.parquet").remove_metadata()


def long_table(name: str) -> Callable[[Path], None]:
    return lambda run: equal_rows(run / name, (1 << 24) + 1)


def long_words(run: Path) -> None:
    """Write migrants whose transport is a long text, which the file contains once."""
    path = run / "migrations" / "rank-000.parquet"
    rows = read_parquet(path, [*pq.read_schema(path)])
    place = rows.column_names.index("transport")
    words = pa.array(["w" * 900_000] * len(rows))
    rows = rows.set_column(place, rows.schema.field(place), words)
    more = pa.concat_tables([rows] * 200).replace_schema_metadata(rows.schema.metadata)
    write_parquet(path, [more.slice(0, 2000)], more.schema)
    assert path.stat().st_size < 1 << 20


def large_problem(run: Path) -> None:
    path = run / "problem.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
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
    """Replace a checkpoint by one with a gigabyte of zeros, and correct its manifest."""
    path = next(run.glob("checkpoints/*/rank-000.npz"))
    with np.load(path) as earlier:
        names = earlier.files
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file,
        file.open(f"{names[0]}.npy", "w", force_zip64=True) as stream,
    ):
        header = {"descr": "<i8", "fortran_order": False, "shape": (2, 1 << 26)}
        np.lib.format.write_array_header_1_0(stream, header)
        for _ in range(1024):
            stream.write(bytes(1 << 20))
    facts = {"bytes": path.stat().st_size, "sha256": digest(path)}
    rewritten(path.parent / "manifest.json", lambda values: values["parts"][0].update(facts))


def pipe(name: str) -> Callable[[Path], None]:
    def make(run: Path) -> None:
        (run / name).unlink(missing_ok=True)
        os.mkfifo(run / name)

    return make


def of_gaps(name: str) -> Callable[[Path], None]:
    return lambda run: gaps(run / name)


READS = ("status", "report", "export")
BOMBS: dict[str, tuple[Callable[[Path], None], tuple[str, ...], str]] = {
    "rows of the solution": (
        long_table("solution.parquet"),
        ("status", "report", "resume"),
        "17825792 rows, but",
    ),
    "rows of the trace": (
        long_table("trace/rank-000.parquet"),
        ("report", "export"),
        "17825792 rows, but",
    ),
    "long words": (long_words, ("report", "export migrations"), "has more than 32 bytes"),
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
import json, os, signal, sys
import islands.studies.pages.campaigns, islands.studies.pages.folders, pyarrow.parquet
from islands.cli import main
for line in sys.stdin:
    words, printed = json.loads(line)
    child = os.fork()
    if not child:
        signal.alarm(LONGEST)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 1)
        os.dup2(1, 2)
        sys.exit(main(words))
    _, status, used = os.wait4(child, 0)
    seconds, size = used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss
    print(json.dumps([os.WIFEXITED(status), seconds, size]), flush=True)
""".replace("LONGEST", str(LONGEST))
"""Runs each command in a process of its own, forked from a small one that has imported the package.

As a child of this process, a command would count the memory of its tests as well.
"""


class Limited:
    def __init__(self, printed: Path) -> None:
        self._printed = printed
        self.launcher = subprocess.Popen(
            [sys.executable, "-c", LAUNCHER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *command: str) -> str:
        asked, answered = self.launcher.stdin, self.launcher.stdout
        print(json.dumps([command, str(self._printed)]), file=asked, flush=True)
        ended, seconds, size = json.loads(answered.readline())
        printed = self._printed.read_text()
        assert ended, f"{command} was ended by a signal: {printed}"
        assert seconds < SECONDS, printed
        assert size < BYTES, printed
        assert "unexpected" not in printed
        return printed


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Limited]:
    commands = Limited(tmp_path_factory.mktemp("printed") / "all.txt")
    yield commands
    commands.launcher.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_command_ends_soon_or_says_why_not(
    name: str, finished: Path, tmp_path: Path, limited: Limited
) -> None:
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
        assert message in limited(*line), words


@pytest.mark.slow
def test_the_tables_of_other_work_may_be_huge(tmp_path: Path, limited: Limited) -> None:
    measured = tmp_path / "measured"
    measured.mkdir()
    gaps(measured / "runs.jsonl")
    assert "0 runs" not in limited("status", str(measured))
    for name in ("table1.csv", "table1.txt", "table1.svg", "settings.toml", "provenance.json"):
        folder = tmp_path / f"of-{name}"
        folder.mkdir()
        experiment(folder)
        gaps(folder / name)
        limited("report", str(folder))
