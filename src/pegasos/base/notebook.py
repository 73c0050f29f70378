"""What notebooks show of an estimator: scikit-learn's diagram, and below it the certificate and the solver.

In the diagram of a pipeline both are a caption of the step.
"""

import html
import sys
from contextvars import ContextVar
from importlib.metadata import PackageNotFoundError, metadata
from typing import Any, ClassVar

from sklearn.utils import estimator_html_repr

from pegasos.base.conventions import BaseEstimator
from pegasos.certificate import Certificate

#: Whether the diagram is that of the estimator alone, which has its certificate below.
_ALONE: ContextVar[bool] = ContextVar("_ALONE", default=False)

#: Of words that must not be missed, on light pages and on dark ones.
BADGE = "background: #9a3b00; color: #ffffff; padding: 0 0.4em; border-radius: 3px; font-weight: bold"
STYLE = "font: 0.9em sans-serif; margin: 0.4em 0 0.6em 0.3em; line-height: 1.5"


def docs_address(page: str) -> str:
    """Where a page of the documentation is; nothing where the package is not installed."""
    try:
        known = [entry.partition(", ") for entry in metadata("pegasos").get_all("Project-URL") or ()]
    except PackageNotFoundError:
        return ""
    index = next((address for name, _, address in known if name == "Documentation"), "")
    return f"{index.rpartition('/')[0]}/{page}" if index else ""


class Notebook(BaseEstimator):
    """An estimator whose HTML has its certificate, and links to the documentation of pegasos."""

    #: The page of the documentation that is about it.
    docs_page: ClassVar[str] = "api.md"

    _doc_link_module = "pegasos"
    _doc_link_template = "{address}"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"address": docs_address(self.docs_page)}

    def _repr_html_inner(self) -> str:
        token = _ALONE.set(True)
        try:
            return super()._repr_html_inner() + describe(getattr(self, "certificate_", None))
        finally:
            _ALONE.reset(token)

    def _sk_visual_block_(self) -> Any:
        """What scikit-learn draws of it; an exception makes that what it draws of any estimator."""
        found: Certificate | None = getattr(self, "certificate_", None)
        block = vars(sys.modules[estimator_html_repr.__module__])["_VisualBlock"]
        caption = None if found is None or _ALONE.get() else repr(found)
        return block("single", self, names=type(self).__name__, name_details=str(self), name_caption=caption)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle


def describe(found: Certificate | None) -> str:
    """A certificate as HTML; nothing where there is none."""
    if found is None:
        return ""
    about = html.escape(docs_address("certificates.md"), quote=True)
    bounds = f"the optimum is between {found.dual:.6g} and {found.primal:.6g}"
    link = f'<a href="{about}" style="color: inherit" rel="noreferrer" target="_blank">certificate</a>'
    told = html.escape(repr(found))
    if found.converged is False:
        told = told.replace("not converged", f'<span style="{BADGE}">not converged</span>', 1)
    lines = [
        f"<b>{link}</b>: {told}; {bounds}",
        f"<b>solver</b>: {html.escape(found.solver)}",
    ]
    return f'<div class="pegasos-certificate" style="{STYLE}">{"<br>".join(lines)}</div>'
