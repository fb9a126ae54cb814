"""Parallel tempering: ladders of Markov chains, with a kind of chain for each form of problem."""

from __future__ import annotations

from islands.algorithms.tempering.algorithm import Tempering
from islands.algorithms.tempering.settings import TemperingSettings

__all__ = ["Tempering", "TemperingSettings"]
