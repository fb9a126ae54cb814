"""The trace of one rank: a row an island an epoch, in `trace/rank-000.parquet`.

A Parquet file cannot be read until its end is written. So rows go to an Arrow stream first, which a
killed run leaves readable (`pyarrow.ipc.open_stream`), and become Parquet when the run ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from islands.paths import published, writing
from islands.run.epochs import Epoch
from islands.run.folder import TRACE, UNFINISHED

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_BETWEEN_WRITES = 1024
_SECONDS_BETWEEN_WRITES = 1.0


class Trace:
    """Takes the measures of one rank's islands, in the instance's own sense of cost."""

    def __init__(self, folder: Path, rank: int, *, maximise: bool) -> None:
        import pyarrow as pa

        self._path = folder / TRACE / f"rank-{rank:03}.parquet"
        self._stream_path = self._path.with_suffix(UNFINISHED)
        self._sign = -1 if maximise else 1
        self._schema = _schema()
        self._rows: list[dict[str, Any]] = []
        self._written_at = 0.0
        with writing(self._stream_path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._sink = self._stream_path.open("wb")
            self._stream = pa.ipc.new_stream(self._sink, self._schema)

    def add(self, epoch: Epoch) -> None:
        """Add a row for each island of this rank."""
        self._rows += [
            {
                "island": measure.island,
                "generation": epoch.generation,
                "seconds": epoch.seconds,
                "best": self._sign * measure.best,
                "mean": self._sign * measure.mean,
                "worst": self._sign * measure.worst,
                "best_generation": measure.best_generation,
                "evaluations": measure.evaluations,
            }
            for measure in epoch.measures
        ]
        waited = epoch.seconds - self._written_at
        if len(self._rows) >= _ROWS_BETWEEN_WRITES or waited >= _SECONDS_BETWEEN_WRITES:
            self._write()
            self._written_at = epoch.seconds

    def finish(self, metadata: Mapping[str, str]) -> None:
        """Turn the stream into the Parquet file, batch by batch so that memory stays small."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._write()
        with writing(self._stream_path):
            self._stream.close()
            self._sink.close()
        schema = self._schema.with_metadata(dict(metadata))
        with (
            published(self._path) as temporary,
            self._stream_path.open("rb") as source,
            temporary.open("wb") as target,  # as Arrow takes no path that is not UTF-8
            pq.ParquetWriter(target, schema) as writer,
        ):
            for batch in pa.ipc.open_stream(source):
                writer.write_batch(batch.replace_schema_metadata(schema.metadata))
        self._stream_path.unlink()

    def _write(self) -> None:
        import pyarrow as pa

        if self._rows:
            batch = pa.RecordBatch.from_pylist(self._rows, self._schema)
            with writing(self._stream_path):
                self._stream.write_batch(batch)
                self._sink.flush()
            self._rows = []


def _schema() -> pa.Schema:
    import pyarrow as pa

    whole, real = pa.int64(), pa.float64()
    return pa.schema(
        [
            ("island", pa.int32()),
            ("generation", whole),
            ("seconds", real),
            ("best", whole),
            ("mean", real),
            ("worst", whole),
            ("best_generation", whole),
            ("evaluations", whole),
        ]
    )
