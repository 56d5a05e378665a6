"""What to cite for what was used: the keys in docstrings, the entries in references.bib.

The section "References" of a docstring names the keys of the papers behind a public name. It is
the only place that does: its page in the documentation and `citation` both read it. A setting that
brings in another paper stands in BY_SETTING.
"""

import inspect
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from sklearn.base import BaseEstimator

from likewise import __version__

BY_SETTING = {
    ("annotator_noise", True): ("dawid1979",),
    ("start", "gaussian"): ("zelnik2004",),
    ("start", "diffusion"): ("coifman2006",),
}

SOFTWARE = f"""@software{{likewise,
  author = {{The likewise developers}},
  title = {{likewise: semi-supervised clustering by learned similarity}},
  version = {{{__version__}}},
  year = {{2026}},
}}
"""


def citation(thing) -> str:
    """Give the BibTeX entries of the methods that were used, to put into a paper.

    Parameters
    ----------
    thing : estimator, class or function
        Of a fitted estimator, what it chose: the learner of a ``GuidedClustering``, the best
        estimator of a search. Of a pipeline, every step. Of a class or a function, its own papers.

    Returns
    -------
    str
        BibTeX: first this package, then a paper each, in alphabetical order. What is not of this
        package has no papers here.

    Examples
    --------
    >>> from likewise import ITML, citation
    >>> print(citation(ITML))  # doctest: +ELLIPSIS
    @software{likewise,
    ...
    @inproceedings{davis2007,
      author = {Davis, Jason V. and Kulis, Brian and Jain, Prateek and ...},
      title = {Information-theoretic metric learning},
      booktitle = {International Conference on Machine Learning},
      year = {2007},
    }
    """
    keys = {key for part in _parts_of(thing) for key in _keys_of(part)}
    return "\n".join([SOFTWARE, *(bibliography()[key] for key in sorted(keys))]).rstrip("\n")


@cache
def bibliography() -> dict[str, str]:
    """All BibTeX entries of the package, by key."""
    text = files("likewise").joinpath("references.bib").read_text(encoding="utf-8")
    entries = re.findall(r"^@\w+\{\w+,$.*?^\}$\n", text, re.DOTALL | re.MULTILINE)
    return {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in entries}


def reference_keys(docstring: str | None) -> list[str]:
    """Keys of papers in the section "References" of a docstring, in their order."""
    found = re.search(
        r"^References\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}$|\Z)",
        inspect.cleandoc(docstring or ""),
        re.DOTALL | re.MULTILINE,
    )
    return re.findall(r"\b[a-z]+\d{4}\b", found.group(1)) if found else []


def _parts_of(thing: Any) -> Iterator[Any]:
    """The thing itself and, of an estimator, those inside it; a finished search has chosen one."""
    if isinstance(thing, list | tuple):
        for item in thing:
            yield from _parts_of(item)
    elif isinstance(thing, BaseEstimator):
        yield thing
        chosen = getattr(thing, "best_estimator_", None)
        for inner in [chosen] if chosen is not None else vars(thing).values():
            yield from _parts_of(inner)
    elif inspect.isclass(thing) or inspect.isfunction(thing):
        yield thing


def _keys_of(part: Any) -> Iterator[str]:
    named = part if inspect.isclass(part) or inspect.isfunction(part) else type(part)
    if not named.__module__.startswith("likewise."):
        return
    yield from reference_keys(named.__doc__)
    if isinstance(part, BaseEstimator):
        for setting in part.get_params(deep=False).items():
            if isinstance(setting[1], str | bool):
                yield from BY_SETTING.get(setting, ())
