"""Kernels learned from answers: SKLR, ChoiceKernel and SpectralReweighting from triples and pairs,
the others from pairs."""

from likewise.kernel_learning.alignment import KernelAlignment
from likewise.kernel_learning.choices import ChoiceKernel
from likewise.kernel_learning.joined_views import JoinedViews
from likewise.kernel_learning.logdet_pairs import LogDetPairs
from likewise.kernel_learning.npk import NPK
from likewise.kernel_learning.simple_npk import SimpleNPK
from likewise.kernel_learning.sklr import SKLR
from likewise.kernel_learning.spectral import SpectralReweighting
from likewise.kernel_learning.start_kernels import fit_start, map_training_rows

__all__ = [
    "NPK",
    "SKLR",
    "ChoiceKernel",
    "JoinedViews",
    "KernelAlignment",
    "LogDetPairs",
    "SimpleNPK",
    "SpectralReweighting",
    "fit_start",
    "map_training_rows",
]
