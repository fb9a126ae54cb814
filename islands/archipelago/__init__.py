"""The islands of one rank: their arrays, programs and launches on a device.

Islands evolve, exchange migrants, and are measured, saved and restored; the loop that decides when
is in `engine`.

- `Archipelago`: all islands of a rank in one run.
- `Colony`: islands with the same algorithm and settings, which share arrays and launches.
- `SharedRuns`: islands of many runs on one device, which begin and end independently.

May import `migration`, `algorithms`, `problems`, `backends`, `parallel` and the layers below them.
It does not depend on options, folders or the time.
"""
