"""The same work over blocks of rows: in memory, in files, on Dask, on a GPU."""

from likewise.scale.block_kmeans import BlockKMeans
from likewise.scale.blocks import Blocks, as_blocks
from likewise.scale.learning import fit, mapped, predict, transform
from likewise.scale.on_dask import connect
from likewise.scale.scores import kmeans_error, satisfaction_report, separation_score

__all__ = [
    "BlockKMeans",
    "Blocks",
    "as_blocks",
    "connect",
    "fit",
    "kmeans_error",
    "mapped",
    "predict",
    "satisfaction_report",
    "separation_score",
    "transform",
]
