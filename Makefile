# `make run` and `make test` do all the set-up on a fresh machine; `make help` lists the rest.
#   PORT=9000 make run        another port
#   PIP_ARGS="..." make run   further arguments of pip, e.g. an index of CPU-only builds of torch
#   BROWSER=0 make test       without the browser tests
#   SHOTS=1 make test         with pictures of all pages in tests/browser/shots
#   PYTHON=python3.12 make    another Python than the first recent one on the path

PORT ?= 8501
BROWSER ?= 1
PIP_ARGS ?=
ARGS ?=
DATA ?=

READING = $(if $(filter-out hub,$(DATA)),ATTENTION_DATA="$(DATA)")
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check install --quiet

.DEFAULT_GOAL := help
.PHONY: help run test suite lint types bench gpu-check models results clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | awk -F'|' '{printf "  make %-10s %s\n", $$1, $$2}'
	@sed -n '2,6s/^#   /  /p' $(firstword $(MAKEFILE_LIST))

run: $(VENV)/.run  ## the dashboard in the browser (PORT, 8501)
	$(PY) -m streamlit run dashboard/app.py --server.port $(PORT) $(ARGS)

test: $(VENV)/.dev  ## everything that must hold (BROWSER=0 leaves the browser tests out)
	@BROWSER=$(BROWSER) $(PY) -m tests.browser.chromium
	$(PY) -m ruff check .
	@$(MAKE) --no-print-directory -j 2 types suite

suite: $(VENV)/.dev
	BROWSER=$(BROWSER) OMP_NUM_THREADS=1 $(PY) -m pytest -n auto --maxprocesses 4 --dist worksteal --benchmark-disable $(ARGS)

lint: types  ## ruff and mypy
	$(PY) -m ruff check .

types: $(VENV)/.dev
	$(PY) -m mypy

bench: $(VENV)/.dev  ## how long the verbs take, ratios reported
	$(PY) -m pytest tests/bench -m bench --benchmark-only $(ARGS)

gpu-check: $(VENV)/.dev  ## the tests that need CUDA
	$(PY) -m pytest -m gpu $(ARGS)

models: $(VENV)/.run  ## train every committed model again, resumable (DATA=hub: full data sets; DATA=folder)
	$(READING) $(PY) -m core train --all $(if $(filter hub,$(DATA)),--fetch) $(ARGS)

results: $(VENV)/.run  ## the experiments over each model's test set again, resumable (ARGS="--workers 2")
	$(READING) $(PY) -m core experiment --all $(ARGS)

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .benchmarks .hypothesis tests/browser/shots

# Stamps: pip runs only where a requirements file is newer than the last install that went through.
$(VENV)/.made:
	@PYTHON="$(PYTHON)" sh tools/venv.sh $(VENV)
	@touch $@

$(VENV)/.run: requirements.txt $(VENV)/.made
	@echo "Installing the requirements (about a minute with a fast connection)."
	$(PIP) $(PIP_ARGS) -r requirements.txt
	@touch $@

$(VENV)/.dev: requirements-dev.txt requirements.txt $(VENV)/.made
	@echo "Installing the requirements of the tests."
	$(PIP) $(PIP_ARGS) -r requirements-dev.txt
	@touch $@ $(VENV)/.run
