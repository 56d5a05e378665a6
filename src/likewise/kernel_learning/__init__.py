"""Kernels learned from answers: SKLR from triples and pairs, LogDetPairs from pairs."""

from likewise.kernel_learning.logdet_pairs import LogDetPairs
from likewise.kernel_learning.sklr import SKLR

__all__ = ["SKLR", "LogDetPairs"]
