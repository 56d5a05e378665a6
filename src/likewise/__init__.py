"""likewise learns the similarity people have in mind and clusters by it.

The public names, each in its room. A room is imported when it, or one of its names, is first used,
so that ``import likewise`` and ``likewise --help`` are quick.
"""

from importlib import import_module

__version__ = "0.1.0.dev0"

PUBLIC_NAMES = {
    "cluster": (
        "COPKMeans",
        "GraphPropagation",
        "KMedoids",
        "KernelKMeans",
        "KernelMeanShift",
        "MPCKMeans",
        "PCKMeans",
        "choose_n_clusters",
        "kernel_affinity",
        "resolutions",
    ),
    "constraints": (
        "Constraints",
        "InconsistentConstraints",
        "coherence",
        "informativeness",
    ),
    "duals": (
        "constraint_prices",
        "dissimilarity_matrix",
        "filter_constraints",
        "metric_fitness",
        "move_points",
        "optimality_gap",
    ),
    "evaluation": (
        "AnswerSearchCV",
        "free_row_score",
        "held_out_accuracy",
        "pair_f1_score",
        "satisfaction_report",
        "satisfaction_score",
        "separation_score",
    ),
    "guided": ("GuidedClustering", "check_answers", "doubtful_answers"),
    "kernel_learning": (
        "ChoiceKernel",
        "JoinedViews",
        "KernelAlignment",
        "LogDetPairs",
        "NPK",
        "SKLR",
        "SimpleNPK",
        "SpectralReweighting",
    ),
    "labeling": ("LabelingSession", "ask"),
    "metric_learning": ("ITML", "LSML", "MMC", "RCA"),
    "model_file": ("ModelFileError", "load_model", "save_model"),
    "progress": ("show_progress",),
    "references": ("citation",),
    "selection": ("next_questions", "select_constraints"),
}
# Rooms whose names stay in them.
_MORE_ROOMS = ("datasets", "deep", "features", "kernels", "maps", "report", "scale", "studio")
_PUBLIC_ROOMS = frozenset([*PUBLIC_NAMES, *_MORE_ROOMS])
_ROOM_OF = {name: room for room, names in PUBLIC_NAMES.items() for name in names}

__all__ = sorted(_ROOM_OF)  # noqa: PLE0605


def __getattr__(name: str):
    if name in _PUBLIC_ROOMS:
        return import_module(f"likewise.{name}")
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'likewise' has no attribute {name!r}")
    value = getattr(import_module(f"likewise.{_ROOM_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PUBLIC_ROOMS})
