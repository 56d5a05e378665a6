"""What to cite: keys, entries, and what is used inside of what."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import likewise
from likewise import (
    ITML,
    NPK,
    SKLR,
    AnswerSearchCV,
    ChoiceKernel,
    Constraints,
    GuidedClustering,
    KernelKMeans,
    citation,
    constraint_prices,
)
from likewise.references import BY_SETTING, bibliography, reference_keys

SOURCE = Path(likewise.__file__).parent
KEY = re.compile(r"\b[a-z]{3,}(?:19|20)\d\d\b")


def cited(thing):
    return set(re.findall(r"@\w+\{(\w+),", citation(thing))) - {"likewise"}


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    X = 3 * rng.normal(size=(40, 4))
    X[:, 0] = rng.normal(size=40) + 4 * y  # the one feature that tells
    return X, Constraints.from_labels(y, n_pairs=80, random_state=0)


def test_an_estimator_has_the_papers_of_its_class_and_of_its_settings():
    assert cited(ITML) == cited(ITML()) == {"davis2007"}
    assert cited(SKLR) == {"amid2015"}
    assert cited(SKLR(start="linear")) == {"amid2015"}
    assert cited(SKLR(start="diffusion")) == {"amid2015", "coifman2006"}
    people = ChoiceKernel(start="linear", annotator_noise=True)
    assert cited(people) == {"amid2015", "tamuz2011", "vandermaaten2012", "dawid1979"}


def test_a_function_has_the_papers_of_its_docstring():
    assert cited(constraint_prices) == {"randel2021"}


def test_a_pipeline_has_the_papers_of_every_step():
    steps = make_pipeline(StandardScaler(), NPK(), KernelKMeans(2))
    assert cited(steps) == {"hoi2007", "dhillon2004"}


def test_what_is_not_ours_has_no_papers_here():
    assert cited(KMeans()) == set()
    assert cited(KMeans) == set()


def test_a_search_has_the_papers_of_what_it_chose(problem):
    X, answers = problem
    search = AnswerSearchCV(SKLR(start="diffusion", C=0.1), {"start": ["linear"]}, random_state=0)
    assert cited(search) == {"amid2015", "coifman2006"}
    assert cited(search.fit(X, constraints=answers)) == {"amid2015"}


def test_guided_clustering_has_the_papers_of_the_learner_it_chose(problem):
    X, answers = problem
    model = GuidedClustering(2, random_state=0).fit(X, constraints=answers)
    assert model.learner_ is not None
    assert cited(model) == cited(GuidedClustering) | cited(model.learner_)
    assert cited(model.learner_) - cited(GuidedClustering)


def test_the_package_itself_comes_first_with_its_version():
    assert citation(ITML).startswith("@software{likewise,")
    assert f"version = {{{likewise.__version__}}}" in citation(ITML)


def test_every_entry_is_whole_and_stands_once():
    text = (SOURCE / "references.bib").read_text()
    keys = re.findall(r"^@\w+\{(.*),$", text, re.MULTILINE)
    assert keys == sorted(set(keys)) == list(bibliography())
    for key, entry in bibliography().items():
        fields = dict(re.findall(r"^  (\w+) = \{(.*)\},$", entry, re.MULTILINE))
        assert len(fields) == entry.count("\n") - 2, f"{key} has a line that is no field"
        assert {"author", "title", "year"} <= fields.keys(), key
        assert {"booktitle", "journal", "institution", "publisher"} & fields.keys(), key
        assert entry.count("{") == entry.count("}"), key
        assert key.endswith(fields["year"]), key


def test_every_key_in_the_source_is_in_the_bibliography():
    unknown = {
        f"{path.relative_to(SOURCE)}: {key}"
        for path in SOURCE.rglob("*.py")
        for docstring in re.findall(r'""".*?"""', path.read_text(), re.DOTALL)
        for key in KEY.findall(docstring)
        if key not in bibliography()
    }
    assert not unknown
    assert {key for keys in BY_SETTING.values() for key in keys} <= bibliography().keys()


def test_keys_are_read_from_the_references_alone():
    def method():
        """Do it, not like smith1999.

        References
        ----------
        hoi2007, section 2;
        amid2015

        Examples
        --------
        >>> "davis2007"
        """

    assert reference_keys(inspect.getdoc(method)) == ["hoi2007", "amid2015"]
    assert reference_keys(None) == []
