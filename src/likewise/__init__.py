"""likewise learns the similarity people have in mind and clusters by it."""

from likewise.constraints import Constraints, InconsistentConstraints

__version__ = "0.1.0.dev0"

__all__ = ["Constraints", "InconsistentConstraints"]
