"""Tables of mixed columns, texts and images as numbers: transformers that a model file can hold."""

from likewise.features.column_encoders import readable_date
from likewise.features.column_kinds import TableColumn, is_id_name
from likewise.features.image_features import ImageFeatures, UnreadableImageWarning
from likewise.features.image_input import read_small_images
from likewise.features.table_features import TableFeatures
from likewise.features.table_input import cell_table, is_frame, is_mixed_table
from likewise.features.text_features import TextFeatures
from likewise.features.text_terms import choose_ngrams, count_terms

__all__ = [
    "ImageFeatures",
    "TableColumn",
    "TableFeatures",
    "TextFeatures",
    "UnreadableImageWarning",
    "cell_table",
    "choose_ngrams",
    "count_terms",
    "is_frame",
    "is_id_name",
    "is_mixed_table",
    "read_small_images",
    "readable_date",
]
