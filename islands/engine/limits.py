"""The limits of the scheduler, each with the reason for its value.

None of them affects results. Where seconds are given, they are medians of three calls of
`solve_many` with its defaults on an H200: of 2,100 tours of 60, 80 and 100 cities (`tours`), or of
100 tours of 100 different sizes (`sizes`). Calls differ by about a tenth.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Numbers of runs, and seconds."""

    # How many runs share launches.

    individuals: int = 1 << 15
    """Individuals of the launches of a GPU, which fill it. With a quarter, a half, and twice as
    many, `tours` take 1.52, 1.44 and 1.20 instead of 1.40 s, with more memory for each kind."""
    individuals_on_cpu: int = 256
    """Those of a CPU thread: launches then take longer than what the host does for them, and the
    individuals fit into its caches."""
    seconds_on_cpu: float = 0.005
    """The time of a generation of a CPU thread, if local searches take most of it."""
    read_seconds: float = 2e-9
    """The time of a memory access, from which that time is estimated."""
    most_places: int = 2048
    """Maximum number of runs that share launches, whatever the size of their populations."""
    memory: float = 0.5
    """Share of the free memory of a device that runs may use."""
    fewest: int = 2
    """Minimum number of queued runs of a kind before shared slots are allocated."""
    fewest_of_few_items: int = 1
    """The same for small problems on several threads, which would otherwise wait for their turn and
    need programs of their own. With 2, `sizes` takes 3.5 instead of 1.5 s."""
    few_items: int = 1000
    """Launches of problems with more items take so long that only a run alone ends in time."""
    grown: int = 2
    """A kind restarts with more slots if this number of runs waits for each slot."""

    # How many runs are known before they begin.

    most_ahead: int = 4096
    """Runs that wait for several threads, so that there are some of each kind."""
    most_bytes: int = 1 << 30
    """Maximum bytes of the arrays of waiting runs."""
    ahead_while_others_work: int = 32
    """Runs that a thread reads at a time while others work, as it slows them down."""
    reading_seconds: float = 0.5
    """How long runs are read before the first ones begin."""
    ahead_on_rank: int = 16
    """Initial queue of a rank for each CPU thread."""
    ahead_on_rank_with_gpu: int = 4096
    """Initial queue of a rank with a GPU."""
    fewest_on_rank: int = 8
    """Divisor: the queue is never shorter than the initial one divided by this."""

    # How long threads and ranks wait for one another.

    long_seconds: float = 0.1
    """How long a kind takes before another thread begins a second one: the preparation of small
    ones in Python takes longer than the device, and threads would only wait for each other. From 0
    to 1 s, `tours` take 1.20 to 0.93 s, and `sizes` 1.75 to 1.53 s."""
    look_seconds: float = 0.02
    """Polling interval, in seconds, for new work or for the end."""
    most_look_seconds: float = 1.28
    """The longest polling interval without work, as polling takes time from working threads."""
    switch_seconds: float = 2e-4
    """How long a thread computes in Python while another one waits. Python's default is 25 times as
    long, which is longer than the launches of a small instance; `tours` show no difference."""
    most_done: int = 8
    """Maximum number of finished results of each CPU thread that wait for the caller."""
    most_done_on_gpu: int = 512
    """The same for a thread of a GPU, which produces thousands a second."""
    rest_seconds_on_gpu: float = 0.005
    """How long results wait for others: each time that the caller's thread awakes, the one that
    keeps the GPU busy stops for a moment. With 0 and 0.02 s, `tours` take 1.32 and 1.16 in place of
    1.13 s."""
    first_round_seconds: float = 0.0125
    """The time of the first round of ranks; each takes twice as long as the one before, as nobody
    knows at first how fast a rank is. With 0.2 s, two CPU ranks solved 630 instead of 1,520 of 400
    small tours a second."""
    round_seconds: float = 0.2
    """The time of later rounds, after which ranks exchange results."""
    streams: int = 4
    """Threads of a GPU, each with a stream, by default. With 1, 2, 4 and 8, `sizes` take 3.6, 1.4,
    1.3 and 1.6 s."""
    most_streams: int = 16

    # How long launches may take.

    launch_seconds: float = 0.25
    """The time of a launch, after which the clock and signals are looked at. With 0.05 and 1 s,
    `tours` take 1.26 and 1.19 instead of 1.21 s."""
    faster: int = 4
    """How many times as many generations as the one before a launch may have."""
    overshoot: float = 0.25
    """The part of their time limit by which runs that share launches may miss it: if a generation
    takes longer, they are made alone, and then end within a generation."""
    least_overshoot: float = 0.5
    """Seconds by which they may miss it in any case."""
    longest_launch: float = 2.0
    """Seconds after which a launch is halted if nobody knows how long evaluations take."""
    watch_seconds: float = 0.1
    """Seconds between two looks at a launch."""


LIMITS = Limits()
