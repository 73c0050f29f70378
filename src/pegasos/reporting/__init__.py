"""Reports: a page of HTML on a fitted model."""

from pegasos.reporting.page import Report, report

__all__ = ["Report", "report"]
