"""Tables of mixed columns as numbers: scikit-learn transformers that a model file can hold."""

from likewise.features.column_kinds import TableColumn
from likewise.features.table_features import TableFeatures

__all__ = ["TableColumn", "TableFeatures"]
