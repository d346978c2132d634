# All set-up lives in .venv and happens once: a stamp per extra says that it is done for this pyproject.toml.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?= -n auto

.PHONY: help demo test lint types bench tennessee clean

help:
	@echo "make demo       plain LightGBM and the fair model side by side, with a picture"
	@echo "make test       all tests"
	@echo "make lint       style checks"
	@echo "make types      type checks"
	@echo "make bench      speed and accuracy figures of the core (idle machine, several minutes)"
	@echo "make tennessee  ACSIncome Tennessee, 5 folds (DATA_HOME=folder with the data)"
	@echo "make clean      remove .venv and everything generated"

demo: $(VENV)/.demo
	$(BIN)/otfairboost demo --output output/demo

test: $(VENV)/.test
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check --no-cache .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks.core --output output/bench.json

tennessee: $(VENV)/.test
	$(BIN)/python -m benchmarks.tennessee --data-home $(or $(DATA_HOME),../shared/data)

clean:
	rm -rf $(VENV) .build build output src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Some systems ship python3 without the venv module's parts; virtualenv from pip does the same.
$(BIN)/python:
	$(PYTHON) -m venv $(VENV) 2>/dev/null || { \
	  rm -rf $(VENV) && $(PYTHON) -m pip install --quiet --target .build/virtualenv virtualenv \
	  && PYTHONPATH=.build/virtualenv $(PYTHON) -m virtualenv --quiet $(VENV); }

$(VENV)/.demo $(VENV)/.test $(VENV)/.dev: $(VENV)/.%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$*]'
	touch $@
