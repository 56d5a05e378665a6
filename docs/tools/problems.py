"""The problem that a method solves, on its page: it stands at the top of its file.

A module of this package begins with the problem in formulas, how it is solved, and where we differ
from the paper. Here that text joins the page of every public name of the module.
"""

import inspect
import sys

METHODS = (
    "cluster",
    "duals",
    "guided",
    "kernel_learning",
    "kernels",
    "metric_learning",
    "selection",
)


def problem_of(thing) -> str | None:
    """The text of the module that a class or function is from, if it is the module of a method."""
    module = getattr(thing, "__module__", None) or ""
    room = module.split(".")[1] if module.startswith("likewise.") else ""
    return inspect.getdoc(sys.modules[module]) if room in METHODS else None


def tell_problem(app, what, name, obj, options, lines: list[str]) -> None:
    """For Sphinx, after numpydoc: add the text below everything else."""
    text = problem_of(obj) if what in ("class", "function") else None
    if text:
        lines += [
            "",
            ".. rubric:: The problem, and how it is solved",
            "",
            ".. code-block:: text",
            "",
        ]
        lines += [f"   {line}" for line in text.splitlines()]
