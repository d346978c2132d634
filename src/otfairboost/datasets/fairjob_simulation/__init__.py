"""Simulated FairJob data: generated rows that reproduce what is published about the real ones."""

from otfairboost.datasets.fairjob_simulation.generator import simulate_fairjob
from otfairboost.datasets.fairjob_simulation.report import fairjob_simulation_report

__all__ = ["fairjob_simulation_report", "simulate_fairjob"]
