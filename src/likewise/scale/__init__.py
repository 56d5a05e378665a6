"""The same work over blocks of rows: in memory, in files, on Dask, on a GPU."""

from likewise.scale.block_kmeans import BlockKMeans, nearest_centers
from likewise.scale.blocks import Blocks, as_blocks, is_blockwise
from likewise.scale.learning import fit, mapped, predict, transform
from likewise.scale.on_dask import connect
from likewise.scale.open_rows import open_rows
from likewise.scale.scores import kmeans_error, satisfaction_report, separation_score

__all__ = [
    "BlockKMeans",
    "Blocks",
    "as_blocks",
    "connect",
    "fit",
    "is_blockwise",
    "kmeans_error",
    "mapped",
    "nearest_centers",
    "open_rows",
    "predict",
    "satisfaction_report",
    "separation_score",
    "transform",
]
