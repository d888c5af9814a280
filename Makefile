# `make demo` and `make test` start from a machine with python3.11 and gcc, and do everything else themselves.
# Set-up leaves stamps in .venv, so that a second call goes straight to the job; removing .venv starts afresh.

SHELL := /bin/bash
PYTHON ?= $(shell command -v python3.11 || command -v python3)
JOBS ?= 2
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1

BIN := .venv/bin
GRAMMAR := frontend/grammar
SOURCES_OF_INSTALL := pyproject.toml setup.py $(wildcard $(GRAMMAR)/binding.c $(GRAMMAR)/src/*.[ch] backend/cpu/pool/*.[ch])

.PHONY: help demo test lint format types layers bench grammar clean driver graphviz

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/.stamp-run driver ## run all of shaders/ and programs/ on the CPU and the GPU, and compare the answers
	@mkdir -p build
	$(BIN)/tinct compare shaders/ programs/ --picture-dir build/

test: .venv/.stamp-dev driver graphviz ## run the tests
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --durations 25 -q

lint: .venv/.stamp-dev ## check style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports

format: .venv/.stamp-dev ## rewrite the sources in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/.stamp-bench driver ## measure the kernels and the front end; numbers and charts go to build/benchmarks
	@mkdir -p build/benchmarks
	$(BIN)/python -m benchmarks --json build/benchmarks/kernels.json --chart build/benchmarks
	$(BIN)/python -m benchmarks.frontend --json build/benchmarks/frontend.json
	$(BIN)/python -m benchmarks.compile --json build/benchmarks/compile.json
	$(BIN)/python -m benchmarks.first_use

grammar: ## generate the parser from grammar.js (needs the tree-sitter generator, 0.22)
	tools/generate-grammar

clean: ## remove what was built, but not .venv
	rm -rf build dist *.egg-info src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

driver: .venv/.stamp-run
	@[ -e .venv/.stamp-driver ] || { $(BIN)/python tools/vulkan_driver.py && touch .venv/.stamp-driver; } || true

graphviz: .venv/.stamp-run
	@[ -e .venv/.stamp-graphviz ] || { $(BIN)/python tools/graphviz.py && touch .venv/.stamp-graphviz; } || true

.venv/bin/python:
	tools/create-venv "$(PYTHON)"

.venv/.stamp-run: $(SOURCES_OF_INSTALL) | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

.venv/.stamp-dev: .venv/.stamp-run
	$(BIN)/python -m pip install --quiet --editable '.[test,dev]'
	@touch $@

.venv/.stamp-bench: .venv/.stamp-run
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	@touch $@
