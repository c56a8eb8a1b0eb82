# Every target sets up what it needs; `make` alone lists them. PYTHON=python3.12 make … chooses the Python.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install -qq --no-input --disable-pip-version-check
# Three on two cores: a program that hangs on purpose leaves its core to the others.
PYTEST := $(BIN)/python -m pytest -n 3 --dist worksteal
DEMOS := early-stop-swallowed exploding-loss crash-in-native-code

# Some images switch it off: each command under test would then compile all of laststep again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test-fast test test-all fuzz recordings golden lint format bench docs dist

help:
	@echo "make demo        three small trainings die in three ways, each explained; installs .venv, about 2 minutes"
	@echo "make test        the tests pass: all but the longest; about 15 minutes on 2 cores"
	@echo "make setup       .venv with laststep, TensorFlow for the CPU and the tools; does nothing if it is there"
	@echo "make test-fast   the tests without TensorFlow and with few processes; about 2 minutes"
	@echo "make test-all    all tests"
	@echo "make fuzz        damaged folders, logs and profiles for three minutes; SECONDS=600 SEED=1 make fuzz"
	@echo "make recordings  run scenarios that are new or changed, and keep what was recorded; NAMES='early_*' for some"
	@echo "make golden      write the pages in tests/pages anew; then read the difference"
	@echo "make lint        ruff (rules and format), import-linter (one-way imports), mypy --strict"
	@echo "make format      ruff format, and what ruff can fix"
	@echo "make bench       what recording costs: a table and JSON; on a GPU too if there is one"
	@echo "make docs        the pages, lists and the picture that are generated"
	@echo "make dist        dist/: a wheel and an sdist, tried in an empty environment with laststep demo"

setup: .venv/.setup

# Where the venv module has no pip of its own (Debian without python3-venv), the pip outside puts one in.
.venv/bin/python:
	@echo "making .venv with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv .venv >/dev/null 2>&1 || { $(PYTHON) -m venv --clear --without-pip .venv \
	  && $(PYTHON) -m pip --python .venv/bin/python install --quiet pip; }

.venv/.setup: pyproject.toml | .venv/bin/python
	@echo "installing laststep, TensorFlow for the CPU and the tools"
	@$(PIP) -e '.[test]'
	@touch $@ .venv/.demo

.venv/.demo: pyproject.toml | .venv/bin/python
	@echo "installing laststep and TensorFlow for the CPU (about 300 MB)"
	@$(PIP) -e '.[demo]'
	@touch $@

# The demos die on purpose, so their exit statuses are not make's.
demo: .venv/.demo
	@for name in $(DEMOS); do \
	  echo; echo "────────────────────────────────────────────────────────────────────────────────"; \
	  TF_CPP_MIN_LOG_LEVEL=3 TF_ENABLE_ONEDNN_OPTS=0 $(BIN)/laststep demo $$name || true; \
	done
	@echo "────────────────────────────────────────────────────────────────────────────────"
	@echo "More of them: $(BIN)/laststep demo --list      Your own: $(BIN)/laststep run python train.py"

test-fast: .venv/.setup
	@$(PYTEST) -m "not slow and not all"

test: .venv/.setup
	@$(PYTEST) -m "not all"

test-all: .venv/.setup
	@$(PYTEST)

# What is spoiled at random: hypothesis on the schema first, then whole folders, logs, profiles and programs.
fuzz: .venv/.setup
	@$(BIN)/python -m pytest tests/record/test_schema.py --hypothesis-profile new
	@$(BIN)/python -m tests.fuzz --seconds $(or $(SECONDS),180) $(if $(SEED),--seed $(SEED))

recordings: .venv/.setup
	@$(BIN)/python tests/recordings.py $(NAMES)

golden: .venv/.setup
	@$(BIN)/python tests/golden.py

lint: .venv/.setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet . || { echo "not formatted: make format"; exit 1; }
	@$(BIN)/lint-imports
	@$(BIN)/mypy --strict src

format: .venv/.setup
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .

bench: .venv/.setup
	@$(BIN)/python bench/run.py
	@$(BIN)/python bench/gpu.py

docs: .venv/.setup
	@$(BIN)/python docs/generate.py
	@$(BIN)/python docs/make_picture.py

# The sdist is built first and the wheel from it: what is missing there would be missing for everybody.
dist: .venv/.setup
	@rm -rf dist build
	@$(BIN)/python -m build --outdir dist . >/dev/null
	@rm -rf build/empty && $(PYTHON) -m venv build/empty
	@build/empty/bin/python -m pip install -qq --no-input --disable-pip-version-check "$$(ls dist/*.whl)[demo]"
	@cd build && TF_CPP_MIN_LOG_LEVEL=3 TF_ENABLE_ONEDNN_OPTS=0 empty/bin/laststep demo early-stopping >demo.out 2>&1; \
	  grep -q "EarlyStopping ended the training" demo.out || { cat demo.out; exit 1; }
	@ls -l dist
