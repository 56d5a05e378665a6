"""Deep constrained clustering: codes of rows learned by a network, and clusters in them.

The only room that uses torch, and only to fit: a fitted model is plain arrays.
"""

from likewise.deep.deep_clustering import DeepConstrainedClustering
from likewise.deep.self_supervised_codes import SelfSupervisedCodes
from likewise.deep.training_plan import TrainingPlan

__all__ = ["DeepConstrainedClustering", "SelfSupervisedCodes", "TrainingPlan"]
