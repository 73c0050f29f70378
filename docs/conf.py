"""Sphinx. Building needs the installed package and no network; formulas are set by the reader's browser."""

from importlib.metadata import version as _version

project = "pegasos"
author = "The pegasos developers"
release = version = _version("pegasos")

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"pegasos {release}"

autodoc_typehints = "none"  # the docstrings say it in words
numpydoc_show_class_members = False
