"""The studio: people answer in their browsers, and watch their clusters form (extra `studio`).

A name is imported when it is first used: the thinker is on its way before anything heavy is.
"""

from importlib import import_module

_HOMES = {
    "RowGallery": "row_gallery",
    "Studio": "studio",
    "StudioSettings": "studio",
    "Study": "study",
    "ThinkerProcess": "thinker_link",
    "Visitors": "visitors",
    "create_app": "server",
    "hold_log": "likewise.labeling",
    "keep_links": "study",
    "read_study": "study",
    "serve": "serving",
    "thinker_on_its_way": "child_process",
    "widget": "notebook_widget",
}
_NEEDED = {"starlette": "studio", "uvicorn": "studio", "anywidget": "notebook"}

__all__ = list(_HOMES)


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module 'likewise.studio' has no attribute {name!r}")
    try:
        if name == "widget":
            import_module("anywidget")
        home = _HOMES[name]
        module = import_module(home if "." in home else f"likewise.studio.{home}")
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _NEEDED:
            raise
        raise ImportError(
            f"The studio needs {package}: pip install 'likewise[{_NEEDED[package]}]'."
        ) from None
    return getattr(module, name)
