"""The same work over blocks of rows: in memory, in files, on Dask, on a GPU."""

from likewise.scale.block_kmeans import BlockKMeans, label_rows, nearest_centers
from likewise.scale.blocks import Blocks, as_blocks, is_blockwise
from likewise.scale.dask_frames import open_dask_frame
from likewise.scale.label_pass import fingerprint_of, label_all
from likewise.scale.learning import fit, mapped, predict, transform
from likewise.scale.mixed_tables import (
    encoded,
    has_columns,
    is_mixed_blocks,
    table_blocks,
    take_table,
)
from likewise.scale.on_dask import connect
from likewise.scale.open_rows import open_rows
from likewise.scale.scores import kmeans_error, satisfaction_report, separation_score

__all__ = [
    "BlockKMeans",
    "Blocks",
    "as_blocks",
    "connect",
    "encoded",
    "fingerprint_of",
    "fit",
    "has_columns",
    "is_blockwise",
    "is_mixed_blocks",
    "kmeans_error",
    "label_all",
    "label_rows",
    "mapped",
    "nearest_centers",
    "open_dask_frame",
    "open_rows",
    "predict",
    "satisfaction_report",
    "separation_score",
    "table_blocks",
    "take_table",
    "transform",
]
