"""The studio: people answer in their browsers, and watch their clusters form (extra `studio`)."""

from likewise.studio.log_lock import hold_log
from likewise.studio.row_gallery import RowGallery
from likewise.studio.studio import Studio, StudioSettings
from likewise.studio.study import Study, keep_links, read_study
from likewise.studio.visitors import Visitors

_SERVED = {"create_app": "server", "serve": "serving", "widget": "notebook_widget"}
_NEEDED = {"starlette": "studio", "uvicorn": "studio", "anywidget": "notebook"}

__all__ = [
    "RowGallery",
    "Studio",
    "StudioSettings",
    "Study",
    "Visitors",
    "create_app",
    "hold_log",
    "keep_links",
    "read_study",
    "serve",
    "widget",
]


def __getattr__(name: str):
    if name not in _SERVED:
        raise AttributeError(f"module 'likewise.studio' has no attribute {name!r}")
    from importlib import import_module

    try:
        if name == "widget":
            import_module("anywidget")
        module = import_module(f"likewise.studio.{_SERVED[name]}")
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _NEEDED:
            raise
        raise ImportError(
            f"The studio needs {package}: pip install 'likewise[{_NEEDED[package]}]'."
        ) from None
    return getattr(module, name)
