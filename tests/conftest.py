"""Settings of all tests."""

from hypothesis import settings

# Kernels compile at their first call and machines differ: time says nothing about whether a property holds.
settings.register_profile("otfairboost", deadline=None)
settings.load_profile("otfairboost")
