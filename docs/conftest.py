"""What pytest leaves alone here, and pages that need more than the oldest libraries that the package runs with."""

import pytest

#: What a build of the documentation wrote, Sphinx's settings, and this file, which is no module with examples.
collect_ignore = ["_build", "api", "auto_examples", "conf.py", "conftest.py"]

#: By name of the page, what it imports.
NEEDED = {"progress.md": "sklearn.callback"}  # scikit-learn 1.9


@pytest.fixture(autouse=True)
def _skip_without_what_is_needed(request):
    if request.node.name in NEEDED:
        pytest.importorskip(NEEDED[request.node.name])
