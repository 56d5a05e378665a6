"""The one place where the modules that need torch are imported."""

from importlib import import_module


def import_from_deep(module: str, needed_by: str):
    """A module of this room that needs torch, or one error with the command that installs it."""
    try:
        return import_module(f"likewise.deep.{module}")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ImportError(f"{needed_by} needs torch to fit. pip install 'likewise[deep]'") from None
