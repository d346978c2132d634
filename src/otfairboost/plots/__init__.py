"""Plots: first what is to be shown, then how."""
