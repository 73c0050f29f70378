"""Sphinx. Building needs the installed package with its extra `docs`; neither that nor reading needs a network."""

import sys
from importlib.metadata import version as _version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import offline  # noqa: E402

project = "pegasos"
author = "The pegasos developers"
copyright = author
release = version = _version("pegasos")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "auto_examples/**/*.ipynb", "auto_examples/**/*.py"]
templates_path = ["_templates"]
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

html_theme = "pydata_sphinx_theme"
html_title = f"pegasos {release}"
html_static_path = ["_static"]
html_css_files = ["pegasos.css"]
html_favicon = "_static/mark.svg"
html_show_sourcelink = False
html_context = {"default_mode": "auto"}  # what the theme's script takes for a page that was never switched
default_role = "literal"  # `names` of the docstrings are code
smartquotes = False  # people search for messages as they are
html_sidebars = {"index": [], "benchmarks": []}
html_theme_options: dict[str, Any] = {
    "logo": {
        "image_light": "_static/logo-light.svg",
        "image_dark": "_static/logo-dark.svg",
        "alt_text": "pegasos, to the first page",
    },
    "icon_links": [
        {"name": "GitHub", "url": "https://github.com/pegasos-svm/pegasos", "icon": "fa-brands fa-github"},
    ],
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}

# Formulas: MathJax 3, from the static files (see offline.py).
mathjax_path = "mathjax/tex-chtml.js"
mathjax3_config: dict[str, Any] = {"options": {"enableMenu": False}}

toc_object_entries_show_parents = "hide"  # the column at the side is narrow
autosummary_generate = True
#: The members that the page of a class has; what scikit-learn gives every estimator is left out.
autosummary_context = {
    "shown": {
        "LinearSVC": "fit, partial_fit, decision_function, predict, predict_proba, predict_log_proba, check_parameters",
        "LinearSVR": "fit, partial_fit, predict, check_parameters",
        "LinearSVCCV": "fit, score",
        "SVC": "fit, decision_function, predict, coef_, check_parameters",
        "SVR": "fit, predict, coef_, check_parameters",
        "SequenceSVC": "fit, predict, decision_function, margins, score, feature_names_, state_features_, "
        "transition_features_, check_parameters",
        "FeatureMapSVC": "fit, decision_function, predict",
        "TextHasher": "fit, transform",
        "RegularizationPath": "converged, decision_function",
        "Certificate": "to_dict",
        "Checkpoint": "clear",
        "Check": "weights, stop",
        "DatasetWriter": "append",
        "Dataset": "X, y, sample_weight, verify",
        "Template": "from_file, named, window, fit, apply, transform, n_columns",
        "ChunkScores": "accuracy",
        "ChunkCounts": "precision, recall, f1",
    }
}
autodoc_typehints = "none"  # the docstrings say it in words
numpydoc_show_class_members = False
copybutton_exclude = ".linenos, .gp, .go"

sphinx_gallery_conf: dict[str, Any] = {
    "subsection_order": ["../examples/certificates", "../examples/models", "../examples/large"],
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("pegasos",),
    "backreferences_dir": "api/examples",
    "reference_url": {"pegasos": None},
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "thumbnail_size": (640, 420),
    "image_srcset": ["2x"],
    "capture_repr": (),
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "write_computation_times": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 10,
    "download_all_examples": False,
    "plot_gallery": "True",
}


def trim(app: Any, docname: str, source: list[str]) -> None:
    """Examples end with an empty line, for pytest; pages do without."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")


def setup(app: Any) -> None:
    app.connect("source-read", trim)
    app.connect("build-finished", offline.add_mathjax)
    app.connect("build-finished", offline.shrink_pictures)
    app.connect("build-finished", offline.check_pages)
