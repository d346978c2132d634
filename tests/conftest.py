"""Settings of all tests."""

import os

from hypothesis import settings

# Kernels compile at their first call and machines differ: time says nothing about whether a property holds.
settings.register_profile("otfairboost", deadline=None)
settings.load_profile("otfairboost")

# LightGBM's threads wait for each other by spinning. On busy cores a fit of two threads can then take minutes instead
# of milliseconds. Read when LightGBM is first imported, which is after this file.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
