"""Check a machine: software, devices and transports between ranks.

It implements `islands doctor`, which also runs under `mpirun` and advises on faster runs.

- `Checkup`: the result of all examinations, the same on every rank.
- `TransportResult`: whether a transport works between ranks, and its speed.
- `Startup`: the time from the command to the first row of a run, by step.

May import `engine`, `migration`, `parallel`, `backends` and the layers below them.
"""
