"""Data to try and to measure on: public data sets, and generated ones."""

from otfairboost.datasets.acs_income import load_acs_income
from otfairboost.datasets.adult import load_adult
from otfairboost.datasets.communities_crime import load_communities_crime
from otfairboost.datasets.compas import load_compas
from otfairboost.datasets.fairjob import load_fairjob
from otfairboost.datasets.fairjob_simulation import fairjob_simulation_report, simulate_fairjob
from otfairboost.datasets.law_school import load_law_school
from otfairboost.datasets.result import Dataset
from otfairboost.datasets.sources import ChecksumError, MissingDataError, data_folder
from otfairboost.datasets.synthetic import LoanApplications, make_loan_applications

__all__ = [
    "ChecksumError",
    "Dataset",
    "LoanApplications",
    "MissingDataError",
    "data_folder",
    "fairjob_simulation_report",
    "load_acs_income",
    "load_adult",
    "load_communities_crime",
    "load_compas",
    "load_fairjob",
    "load_law_school",
    "make_loan_applications",
    "simulate_fairjob",
]
