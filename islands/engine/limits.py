"""The limits of the scheduler, each with the reason for its value.

None of them affects results. Measured times are medians of three calls of `solve_many` with its
defaults on an H200, for 2,100 tours of 60, 80 and 100 cities (`tours`) or 100 tours of 100
different sizes (`sizes`). Times vary by about 10 % between calls.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The limits, in runs, individuals, bytes or seconds."""

    # How many runs share launches.

    individuals: int = 1 << 15
    """The number of individuals that fill a GPU in one launch. With a quarter, half and twice this
    number, `tours` takes 1.52, 1.44 and 1.20 instead of 1.40 s. Larger numbers need more memory for
    each kind of run."""
    individuals_on_cpu: int = 256
    """Individuals in a launch of a CPU thread: enough for a launch to take longer than
    its preparation by the host, and few enough to fit into the caches."""
    seconds_on_cpu: float = 0.005
    """Target time of a generation on a CPU thread, if local searches take most of it."""
    read_seconds: float = 2e-9
    """The time of a memory access, for estimates of the time of a generation."""
    most_places: int = 2048
    """Maximum number of runs that share launches, whatever the size of their populations."""
    memory: float = 0.5
    """Share of the free memory of a device that runs may use."""
    fewest: int = 2
    """Minimum number of queued runs of a kind before shared slots are allocated."""
    fewest_of_few_items: int = 1
    """The same for small problems on several threads, which would otherwise run one at a time and
    need programs of their own. With 2, `sizes` takes 3.5 instead of 1.5 s."""
    few_items: int = 1000
    """Maximum number of items of a small problem. Launches of larger ones take so long that a run
    ends in time only if it has its own launches."""
    grown: int = 2
    """A kind restarts with more slots if this number of runs waits for each slot."""

    # How far ahead runs are read.

    most_ahead: int = 4096
    """Maximum number of waiting runs for several threads, which need runs of different kinds."""
    most_bytes: int = 1 << 30
    """Maximum bytes of the arrays of waiting runs."""
    ahead_while_others_work: int = 32
    """Runs that a thread reads at a time while other threads work, as reading slows them down."""
    reading_seconds: float = 0.5
    """Maximum time for reading before the first runs begin."""
    ahead_on_rank: int = 16
    """Initial length of a rank's queue, for each CPU thread."""
    ahead_on_rank_with_gpu: int = 4096
    """Initial length of the queue of a rank with a GPU."""
    fewest_on_rank: int = 8
    """The queue of a rank is refilled at least to its initial length divided by this number."""

    # How long threads and ranks wait for one another.

    long_seconds: float = 0.1
    """Time after which another thread begins the next kind: small kinds take longer in Python than
    on the device, so several threads would only wait for each other. With 0 s, `tours` takes 1.20 s
    and `sizes` 1.75 s; with 1 s, they take 0.93 and 1.53 s."""
    look_seconds: float = 0.02
    """Polling interval, in seconds, for new work or for the end."""
    most_look_seconds: float = 1.28
    """The longest polling interval without work, as polling takes time from working threads."""
    switch_seconds: float = 2e-4
    """Upper limit of Python's thread switch interval. The default is 25 times as long, which is
    longer than a launch of a small instance; for `tours`, it makes no difference."""
    most_done: int = 8
    """Maximum number of results of a CPU thread that wait for the caller."""
    most_done_on_gpu: int = 512
    """The same for a thread of a GPU, which produces thousands of results per second."""
    rest_seconds_on_gpu: float = 0.005
    """How long results are collected before the caller's thread wakes up: whenever it does, the
    thread that keeps the GPU busy pauses. With 0 and 0.02 s, `tours` takes 1.32 and 1.16
    instead of 1.13 s."""
    first_round_seconds: float = 0.0125
    """The time of the first round of ranks; each round takes twice as long as the one before, as
    the speed of a rank is unknown at first. With 0.2 s, two CPU ranks solved 400 small tours at a
    rate of 630 instead of 1,520 per second."""
    round_seconds: float = 0.2
    """The time of later rounds, after which ranks exchange results."""
    streams: int = 4
    """The default number of threads of a GPU, each with a stream. With 1, 2, 4 and 8 threads,
    `sizes` takes 3.6, 1.4, 1.3 and 1.6 s."""
    most_streams: int = 16

    # How long launches may take.

    launch_seconds: float = 0.25
    """Target time of a launch; the clock and signals are checked between launches. With launches of
    0.05 and 1 s, `tours` takes 1.26 and 1.19 instead of 1.21 s."""
    faster: int = 4
    """Maximum ratio of the generations of a launch to those of the previous launch."""
    overshoot: float = 0.25
    """Fraction of the time limit by which runs that share launches may exceed it. If one generation
    takes longer than that, each gets its own launches, which can end within a generation."""
    least_overshoot: float = 0.5
    """The seconds by which these runs may exceed their time limit in any case."""
    longest_launch: float = 2.0
    """Seconds after which a launch is halted if the time of evaluations is unknown."""
    watch_seconds: float = 0.1
    """Interval at which a watchdog checks whether a launch must be halted."""


LIMITS = Limits()
