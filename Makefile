# web-search: what a person or CI runs. Python 3.10 or newer and make are enough for demo and test.

PYTHON ?= python3
# Development tools go here, outside the repository.
TOOLS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/web-search-dev
RUFF := $(TOOLS)/venv/bin/ruff
MYPY := $(TOOLS)/venv/bin/mypy

.DEFAULT_GOAL := help
.PHONY: help demo test test-long lint sync bench e2e-opencode install-opencode uninstall-opencode bench-extract

help: ## list the targets
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

demo: ## show the main jobs against a local fake server: no key, no network
	@$(PYTHON) tests/demo.py

test: ## run the tests (standard library, loopback only)
	@$(PYTHON) tests/run.py

test-long: ## run what takes longer: fuzz, concurrency, kill tests
	@$(PYTHON) tests/run.py --long

lint: $(RUFF) ## ruff (format and rules) and mypy --strict
	$(RUFF) format --check .
	$(RUFF) check .
	$(MYPY) --strict --python-version 3.10 --cache-dir $(TOOLS)/mypy scripts
	$(MYPY) --strict --python-version 3.10 --cache-dir $(TOOLS)/mypy -p tests.fake_server

sync: ## copy the shared code and the parameter tables to where they are needed
	@$(PYTHON) tests/sync.py

bench: ## time a search as a whole process against a bare urllib script
	@$(PYTHON) tests/bench/bench_process.py

bench-extract: ## measure page extraction against libraries (BENCH_DATA= the folder with pages)
	@$(PYTHON) tests/bench/bench_extract.py

e2e-opencode: ## the tool in the real opencode, against local fakes (npm; skipped without)
	@$(PYTHON) tests/e2e/opencode.py

install-opencode: ## copy the opencode tool and plugin (DIR=project; else for the user)
	@$(PYTHON) tests/install_opencode.py $(if $(DIR),--dir '$(DIR)')

uninstall-opencode: ## remove them again (DIR= as above)
	@$(PYTHON) tests/install_opencode.py --uninstall $(if $(DIR),--dir '$(DIR)')

$(RUFF):
	$(PYTHON) -m venv $(TOOLS)/venv
	$(TOOLS)/venv/bin/python -m pip install --quiet --disable-pip-version-check ruff mypy
