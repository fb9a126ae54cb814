"""Check a machine: software, devices and transports between ranks.

This is `islands doctor`, which also runs under `mpirun` and prints advice for faster runs.

- `Checkup`: the result of all examinations, the same on every rank.
- `TransportResult`: whether a transport works between ranks, and its speed.

May import `engine`, `migration`, `parallel`, `backends` and the layers below them.
"""
