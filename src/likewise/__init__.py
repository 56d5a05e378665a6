"""likewise learns the similarity people have in mind and clusters by it."""

__version__ = "0.1.0.dev0"
