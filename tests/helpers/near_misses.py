"""Best known values, and costs that just miss them: small, large, and with decimals."""

from __future__ import annotations

NEAR = [
    (200, 201, False),
    (200, 199, True),
    (2**60, 2**60 + 1, False),
    (2**60, 2**60 - 1, True),
    (0.3, 0.300000001, False),
    (95168.5, 95168.499999999, True),
]
"""The value, the cost, and whether it is a profit, which is to be large."""
