"""Boosting engines: train on a fair objective, hand back a plain model."""
