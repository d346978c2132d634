"""The report page: first what it shows (:class:`Report`), then one self-contained HTML file."""

from otfairboost.report.build import build_report
from otfairboost.report.data import Candidate, Report
from otfairboost.report.frontier import frontier_report
from otfairboost.report.html import render_report, write_report
from otfairboost.report.summary import summarise

__all__ = ["Candidate", "Report", "build_report", "frontier_report", "render_report", "summarise", "write_report"]
