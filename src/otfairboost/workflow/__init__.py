"""From a file to a model and back: what the command line does, as functions."""

from otfairboost.workflow.audit import read_audit
from otfairboost.workflow.card import ModelCard, read_card
from otfairboost.workflow.model import SavedModel, load_model, save_model
from otfairboost.workflow.tables import Table, read_table, write_table
from otfairboost.workflow.training import TrainingRows, read_training_rows, train_model

__all__ = [
    "ModelCard",
    "SavedModel",
    "Table",
    "TrainingRows",
    "load_model",
    "read_audit",
    "read_card",
    "read_table",
    "read_training_rows",
    "save_model",
    "train_model",
    "write_table",
]
