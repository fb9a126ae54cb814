"""Throughput of algorithms on this machine. Speed is reported here, and asserted nowhere."""

from __future__ import annotations

BENCHES = {"brkga": "islands.bench.brkga"}
"""What can be measured, and the module that measures it by its function `measure`."""
