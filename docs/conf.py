"""Sphinx settings."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import likewise
from docs.tools import bibliography, commands, history, origins, problems, tables

project = "likewise"
author = "The likewise developers"
version = release = likewise.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "docs.tools.formulas",
]
html_math_renderer = "mathml"
autosummary_generate = True
templates_path = ["_templates"]
numpydoc_show_class_members = False
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_title = "likewise"
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False}
html_show_sourcelink = False
html_favicon = "../src/likewise/studio/static/icon.svg"
html_context = {"default_mode": "auto"}
html_sidebars = {  # pages without pages below them
    name: [] for name in ("gallery", "headline", "benchmarks", "references", "changelog")
}
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
exclude_patterns = [
    "_build",
    "auto_examples/**/*.ipynb",
    "changes",
    "tools",
    "tables",
    "_templates",
]
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": "/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,  # their page would load scripts from elsewhere
}


def setup(app):
    app.connect("source-read", bibliography.fill_in)
    for tool in (tables, history, commands, origins):
        app.connect("source-read", tool.fill_in)
    # before numpydoc, which turns the section into something else
    app.connect("autodoc-process-docstring", bibliography.link_references, priority=400)
    app.connect("autodoc-process-docstring", problems.tell_problem, priority=600)
