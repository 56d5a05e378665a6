"""Every public name has a page, its parameters explained, an example and the paper behind it."""

import inspect
import re
from importlib import import_module

import pytest
from numpydoc.docscrape import NumpyDocString

from docs.tools.api import names_with_a_page
from docs.tools.tables import ROOT
from likewise.references import bibliography, reference_keys

ROOMS = ("", ".report", ".datasets", ".scale", ".deep")
PROMISED = tuple(f"likewise{room}" for room in ROOMS)

# Ours, or no method at all: there is no paper to name.
NO_PAPER = {
    "likewise.constraints.read_dedupe_training",
    "likewise.constraints.read_splink_labels",
    "likewise.evaluation.BoundClusterer",
    "likewise.evaluation.people_agreement",
    "likewise.AnswerSearchCV",
    "likewise.Constraints",
    "likewise.InconsistentConstraints",
    "likewise.ModelFileError",
    "likewise.ask",
    "likewise.citation",
    "likewise.free_row_score",
    "likewise.held_out_accuracy",
    "likewise.kernel_affinity",
    "likewise.load_model",
    "likewise.satisfaction_report",
    "likewise.satisfaction_score",
    "likewise.save_model",
    "likewise.show_progress",
    "likewise.kernels.cosine",
    "likewise.kernels.kernel_function",
    "likewise.kernels.kernel_oracle",
    "likewise.kernels.linear",
    "likewise.kernels.nearest_rows",
    "likewise.kernels.polynomial",
    "likewise.kernels.rbf",
    "likewise.kernels.sq_distances",
}
NO_PAPER_ROOMS = tuple(
    f"likewise.{room}." for room in ("report", "datasets", "features", "labeling", "scale", "maps")
)


def resolve(name):
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


NAMES = sorted(names_with_a_page())


def test_every_public_name_has_one_page():
    promised = {f"{room}.{name}" for room in PROMISED for name in import_module(room).__all__}
    assert promised <= set(NAMES)
    assert len(NAMES) == len(set(NAMES))


def test_every_topic_is_in_the_index():
    index = (ROOT / "docs" / "api" / "index.md").read_text()
    for path in (ROOT / "docs" / "api").glob("*.md"):
        if path.stem != "index":
            assert f"]({path.name})" in index
            assert f"\n{path.stem}\n" in index.partition("toctree")[2]


def test_every_page_is_of_a_name_that_its_room_offers():
    for name in NAMES:
        room, _, attribute = name.rpartition(".")
        assert attribute in import_module(room).__all__, name


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_says_what_it_is_for_and_shows_it(name):
    told = NumpyDocString(inspect.getdoc(resolve(name)))
    assert told["Summary"], f"{name} has no first line"
    assert ">>>" in "\n".join(told["Examples"]), f"{name} has no example"


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_of_a_public_name_is_explained(name):
    thing = resolve(name)
    told = NumpyDocString(inspect.getdoc(thing))
    is_record = inspect.isclass(thing) and not told["Parameters"]  # made by others, never called
    if is_record:
        return
    explained = {
        one.strip(" *") for parameter in told["Parameters"] for one in parameter.name.split(",")
    }
    assert explained == set(inspect.signature(thing).parameters)
    assert all(one.type or one.name.startswith("**") for one in told["Parameters"])


def attributes_of(thing):
    """What fit sets, fields and properties of a class, as far as its source shows them."""
    fields = {*getattr(thing, "_fields", ()), *getattr(thing, "__dataclass_fields__", ())}
    assigned = re.findall(
        r"^ +((?:self\.\w+, )*self\.\w+)(?::[^=\n]+)? = ", inspect.getsource(thing), re.MULTILINE
    )
    words = {word for line in assigned for word in re.findall(r"self\.([a-z]\w*)", line)}
    return {*(field for field in fields if field[0] != "_"), *(w for w in words if w[-1] == "_")}


@pytest.mark.parametrize("name", [name for name in NAMES if inspect.isclass(resolve(name))])
def test_every_attribute_of_a_public_class_is_explained(name):
    thing = resolve(name)
    page = NumpyDocString(inspect.getdoc(thing))
    sections = (*page["Parameters"], *page["Attributes"])
    explained = {word.strip(" *") for entry in sections for word in entry.name.split(",")}
    assert attributes_of(thing) - explained <= {"in_double"}


def test_attributes_are_found():
    from likewise import ITML, KernelMeanShift
    from likewise.maps import LinearMap

    assert {"metric_", "map_"} <= attributes_of(ITML)
    assert {"basis_", "bandwidth_"} <= attributes_of(KernelMeanShift)
    assert {"matrix", "center", "scale"} <= attributes_of(LinearMap)


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_has_a_reference_or_is_said_to_have_none(name):
    keys = reference_keys(resolve(name).__doc__)
    assert set(keys) <= bibliography().keys()
    if name in NO_PAPER:
        assert not keys, f"{name} names a paper: take it off the list"
    elif not name.startswith(NO_PAPER_ROOMS):
        assert keys, f"{name} names no paper in a section References"


def test_what_has_no_paper_is_still_there():
    assert set(NAMES) >= NO_PAPER
