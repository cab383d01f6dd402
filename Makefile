# Librarian's commands; `make` alone lists them. GNU make >= 3.81 and a POSIX shell are enough.
# Every path is relative: make splits names at blanks, and the project may live in a folder that has one.

SHELL := /bin/sh
BIN := .venv/bin
DEV_EXTRAS ?= dev
DEV := .venv/installed-$(DEV_EXTRAS)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup setup-dev run check audit test docs clean FORCE

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

setup: .venv/installed  ## make .venv and install Librarian in it

setup-dev: $(DEV)  ## the same with the tools that the tests need

run: setup  ## start Librarian with a sample graph (LIBRARIAN_HOST, LIBRARIAN_PORT)
	@exec $(BIN)/librarian serve --with-sample

check: setup-dev  ## format, lint, types, layers, version, known vulnerabilities
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy & types=$$!; \
	$(BIN)/lint-imports --no-logo && $(BIN)/pytest --quiet tests/architecture/test_changelog.py \
	  && $(BIN)/python scripts/audit.py; others=$$?; \
	wait $$types && exit $$others

audit: setup-dev  ## ask for known vulnerabilities of what is installed; fails where there are some
	@$(BIN)/python scripts/audit.py --strict

# Each of the processes has its own database server; tests/conftest.py says which tests run where. Tests often wait (for a
# server to start, a lease to end), so three processes keep two cores busy. Programs that they start share what was compiled.
test: check  ## check, then every test (PYTEST_ARGS="-k name" narrows it)
	unset PYTHONNEO4JDEBUG PYTHONDONTWRITEBYTECODE; \
	exec $(BIN)/pytest --numprocesses 3 --no-loadscope-reorder --durations 10 $(PYTEST_ARGS)

docs: setup-dev  ## build the documentation's site into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:  ## remove what the commands above made here; graphs, keys and downloads stay
	rm -rf .venv build dist site htmlcov .coverage
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name '.?*' -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +

# The stamps lie inside .venv, so that they never outlive what they vouch for.
.venv/installed: .venv/pyvenv.cfg pyproject.toml
	@echo "Installing Librarian into .venv (once, needs the network)"
	@$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(DEV): .venv/pyvenv.cfg pyproject.toml
	@echo "Installing Librarian and its development tools into .venv (once, needs the network)"
	@$(BIN)/python -m pip install --quiet --no-compile --editable '.[$(DEV_EXTRAS)]'
	@touch .venv/installed $@

# An environment holds absolute paths: one that was moved with its project, or whose Python is gone, is made anew.
UNUSABLE := $(shell test "`. .venv/bin/activate 2>/dev/null && printf %s "$$VIRTUAL_ENV"`" = "`pwd -P`/.venv" \
	&& $(BIN)/python -c '' 2>/dev/null || echo yes)

.venv/pyvenv.cfg: $(if $(UNUSABLE),FORCE)
	@if [ -n "$$LIBRARIAN_PYTHON" ]; then set -- "$$LIBRARIAN_PYTHON"; \
	else set -- python3.14 python3.13 python3.12 python3.11 python3; fi; \
	bare=; \
	for python in "$$@"; do \
	  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	  if "$$python" -c 'import ensurepip, venv' 2>/dev/null; then \
	    echo "Making .venv with $$python"; \
	    rm -rf .venv && exec "$$python" -m venv .venv; \
	  fi; \
	  bare="$${bare:-$$python}"; \
	done; \
	sudo=; [ "`id -u`" = 0 ] || sudo='sudo '; \
	if [ -n "$$bare" ]; then \
	  echo "$$bare cannot make environments (its ensurepip module is missing). On Debian and Ubuntu this installs it:"; \
	  "$$bare" -c 'import sys; print("  %sapt-get install -y python%d.%d-venv" % (sys.argv[1], *sys.version_info[:2]))' "$$sudo"; \
	elif [ -n "$$LIBRARIAN_PYTHON" ]; then \
	  echo "LIBRARIAN_PYTHON=$$LIBRARIAN_PYTHON is not a Python >= 3.11 that runs."; \
	else \
	  case "`uname -s`" in \
	    Darwin) system=macOS; line='brew install python@3.13';; \
	    *) system='Debian 12, Ubuntu 24.04 or newer'; line="$${sudo}apt-get install -y python3 python3-venv";; \
	  esac; \
	  echo "Librarian needs Python >= 3.11 and found none. This installs one ($$system):"; \
	  echo "  $$line"; \
	  echo "or name one that stands elsewhere: make LIBRARIAN_PYTHON=/path/to/python3"; \
	fi >&2; exit 1
