"""Which GPU a rank takes: the first that it sees and that nobody on its host has taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from islands.errors import UsageError
from islands.text import counted, option


def assigned(visible: Sequence[Sequence[str]], host: str, *, share: bool) -> list[int]:
    """Return the number of the GPU that each rank of a host takes among those that it sees.

    `visible` holds for each rank the identities of the GPUs that it sees: all of the host, or those
    that CUDA_VISIBLE_DEVICES names. Only with `share` may two ranks take the same.
    """
    taken: Counter[str] = Counter()
    numbers = [0] * len(visible)
    # Those with the least choice come first.
    for rank in sorted(range(len(visible)), key=lambda each: len(visible[each])):
        seen = visible[rank]
        if not seen:
            raise UsageError(
                f"host {host} shows no GPU to one of its {counted(len(visible), 'rank')}. Check"
                f" CUDA_VISIBLE_DEVICES and nvidia-smi, or choose {option('backend', 'cpu')}"
            )
        number = min(range(len(seen)), key=lambda each: (taken[seen[each]], each))
        if taken[seen[number]] and not share:
            gpus = len({identity for every in visible for identity in every})
            if gpus >= len(visible):
                raise UsageError(
                    f"host {host} has {gpus} GPUs for {len(visible)} ranks, but shows none to one"
                    " of them that is not another's. Let CUDA_VISIBLE_DEVICES name a GPU of its own"
                    f" to each rank, or pass {option('share_gpu', True)}"
                )
            raise UsageError(
                f"host {host} has {counted(gpus, 'GPU')} for {len(visible)} ranks. Start at most"
                f" {counted(gpus, 'rank')} a host, or pass {option('share_gpu', True)}, or"
                f" {option('backend', 'cpu')}"
            )
        taken[seen[number]] += 1
        numbers[rank] = number
    return numbers
