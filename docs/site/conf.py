"""The configuration of Sphinx for the site; `docs/site/build` collects the pages and starts it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import islands

project = "islands"
copyright = "The islands developers"
release = islands.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx_copybutton"]
html_theme = "furo"
html_title = f"islands {release}"
templates_path = ["templates"]

myst_heading_anchors = 4
nb_execution_mode = "off"  # the notebooks have their outputs
nb_merge_streams = True

default_role = "code"
autodoc_default_options = {"members": True, "undoc-members": True, "member-order": "bysource"}
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
