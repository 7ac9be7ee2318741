"""The site: `./run docs` builds it into build/site, offline, and every warning is an error."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
# What the tutorials publish enters a ledger that nobody keeps, and warnings do not hang on the width of a terminal.
os.environ.setdefault("SFUMATO_SITE_STATE", tempfile.mkdtemp())
os.environ["XDG_STATE_HOME"] = os.environ["SFUMATO_SITE_STATE"]


def told(message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None) -> str:
    """A warning as a tutorial shows it: by its file's name, whatever machine builds the site."""
    return f"{Path(filename).name}:{lineno}: {category.__name__}: {message}\n"


warnings.formatwarning = told

project = "Sfumato"
author = "The Sfumato authors"
copyright = "2026, The Sfumato authors"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "extensions.pages",
    "extensions.commands",
]
exclude_patterns = ["tutorials", "generated/tutorials/*.zip", "extensions"]
default_role = "code"
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
autosummary_generate = True
autodoc_typehints = "none"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
templates_path = ["templates"]
pygments_style = "a11y-high-contrast-light"

html_theme = "pydata_sphinx_theme"
html_title = "Sfumato"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_show_sourcelink = False
html_copy_source = False
# Pages that stand alone have nothing to navigate to beside them.
html_sidebars = {"start": [], "choosing": []}
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": False,
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}

sphinx_gallery_conf = {
    "examples_dirs": ["tutorials"],
    "gallery_dirs": ["generated/tutorials"],
    "filename_pattern": r"/\d\d_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "default_thumb_file": str(HERE / "picture.png"),
    "write_computation_times": False,
    "show_signature": False,
    "remove_config_comments": True,
    "plot_gallery": "True",
    "abort_on_example_error": True,
}
suppress_warnings = ["config.cache"]
# Words of the sections of `Recoder`, which follow scikit-learn's way of writing and are no classes.
nitpick_ignore_regex = [("py:class", r"path|optional|Mask|Masker|True|False|\"\w+\"|default=.*")]
