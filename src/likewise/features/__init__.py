"""Tables of mixed columns and texts as numbers: transformers that a model file can hold."""

from likewise.features.column_kinds import TableColumn
from likewise.features.table_features import TableFeatures
from likewise.features.table_input import cell_table, is_frame, is_mixed_table
from likewise.features.text_features import TextFeatures

__all__ = [
    "TableColumn",
    "TableFeatures",
    "TextFeatures",
    "cell_table",
    "is_frame",
    "is_mixed_table",
]
