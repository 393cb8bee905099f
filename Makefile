# web-search: the targets that people and CI run. demo and test need only Python 3.10 or newer and make.

PYTHON ?= python3
# Development tools go here, outside the repository.
TOOLS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/web-search-dev
RUFF := $(TOOLS)/venv/bin/ruff
MYPY := $(TOOLS)/venv/bin/mypy
SKILL_LINTERS := $(TOOLS)/venv/bin/agnix
RENDERER := $(TOOLS)/venv/bin/markdown-it

.DEFAULT_GOAL := help
# Every installed CPython from 3.10 on, the oldest first.
PYTHONS = $(shell for minor in 10 11 12 13 14 15; do for python in python3.$$minor $(HOME)/.pyenv/versions/3.$$minor.*/bin/python3; do \
	if $$python -c '' >/dev/null 2>&1; then echo $$python; break; fi; done; done)
# A step of ci: print its name before its output, and its seconds after it.
STEP = @step() { began=$$(date +%s); echo "=== $$*" >&2; "$$@" && echo "=== $$(($$(date +%s) - began)) s: $$*" >&2; }; step
.PHONY: help demo picture test test-long snapshots format lint sync ci nightly bench bench-extract bench-pdf faults secrets sdk-parity pythons \
	portability e2e-opencode e2e-mcp e2e-agents e2e-browser e2e-scale install uninstall package install-opencode \
	uninstall-opencode

help: ## list the targets
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

demo: ## show the main jobs against a local fake server: no key, no network
	@$(PYTHON) tests/tools/demo.py

picture: ## make README's pictures: a terminal, and the desk in Chromium
	@$(PYTHON) tests/tools/picture.py

test: ## run the tests (standard library, loopback only)
	@$(PYTHON) tests/run.py

snapshots: ## rewrite the tests' snapshots (API=keyless: only these); read the diff before you commit
	@WRITE_SNAPSHOTS=1 $(PYTHON) tests/run.py $(API)_wire

test-long: ## run the long tests: fuzz, concurrency, kills
	@$(PYTHON) tests/run.py --long

format: $(RUFF) ## format every Python file as lint requires
	$(RUFF) format .
	$(RUFF) check --fix .

lint: $(RUFF) $(SKILL_LINTERS) $(RENDERER) ## check with ruff, mypy --strict, skills-ref and agnix; check the documents and the rendered Markdown
	$(RUFF) format --check .
	$(RUFF) check .
	$(MYPY) --strict --python-version 3.10 --cache-dir $(TOOLS)/mypy scripts
	$(MYPY) --strict --python-version 3.10 --cache-dir $(TOOLS)/mypy -p tests.fake_server
	$(PYTHON) -m unittest -q $(addprefix tests.skill.test_documents.,SkillFormat EveryDocument CommandLines Docstrings)
	@rm -rf $(TOOLS)/lint && mkdir -p $(TOOLS)/lint && $(PYTHON) scripts/install.py install --dir $(TOOLS)/lint >/dev/null
	$(TOOLS)/venv/bin/agentskills validate $(TOOLS)/lint/web-search
	$(SKILL_LINTERS) $(TOOLS)/lint/web-search
	$(TOOLS)/venv/bin/python -m unittest -q tests.pages.extract.test_live_markdown

# secrets runs all tests under the oldest Python, so ci does not also run `make test`.
ci: ## check a push, in at most ten minutes on two cores; .ci/run calls it on a clean machine
	$(STEP) $(MAKE) --no-print-directory lint
	@$(PYTHON) -m compileall -q scripts  # or thousands of processes compile it again
	$(STEP) $(MAKE) --no-print-directory secrets PYTHON=$(or $(firstword $(PYTHONS)),$(PYTHON))
	$(STEP) $(MAKE) --no-print-directory demo >$(TOOLS)/demo.txt || { cat $(TOOLS)/demo.txt; exit 1; }
	$(STEP) env FUZZ_SECONDS=36 ATTACK_SECONDS=12 ATTACK_SEED=1 $(PYTHON) tests/run.py --long fuzz attack
	$(STEP) $(PYTHON) tests/tools/faults.py --sample
	$(STEP) $(MAKE) --no-print-directory e2e-mcp

# make -k continues after a part that fails; .ci/run nightly uses it.
nightly: test-long e2e-opencode e2e-agents e2e-browser e2e-scale portability sdk-parity pythons ## run the slow tests, in addition to ci

sync: ## copy the shared code and the parameter tables to where they are needed
	@$(PYTHON) tests/tools/sync.py

bench: ## compare times and characters with their limits; prints a table
	@$(PYTHON) tests/bench/bench.py

bench-extract: ## measure page extraction against libraries (BENCH_DATA= the folder with pages)
	@$(PYTHON) tests/bench/bench_extract.py

bench-pdf: ## measure the text of PDF files against libraries (PDF_DATA= the folder with files)
	@$(PYTHON) tests/bench/bench_pdf.py

e2e-opencode: ## test the tool in the real opencode, against local fakes (npm; skipped without)
	@$(PYTHON) tests/e2e/opencode.py

e2e-mcp: ## test the servers with real MCP clients and schemathesis (PyPI, npm; skipped without)
	@$(PYTHON) tests/e2e/mcp.py

e2e-agents: ## test the skill in real agents (Claude Code, Codex, Gemini CLI, opencode), with fake models
	@$(PYTHON) tests/e2e/agents.py

e2e-browser: ## pages that need JavaScript, in a real Chromium (Debian; skipped without)
	@$(PYTHON) tests/e2e/browser.py

e2e-scale: ## the commands of references/scale.md: GNU parallel, Spark (Debian, PyPI; skipped without)
	@$(PYTHON) tests/e2e/scale.py

faults: ## every command x every fault x every interface, as a table
	@$(PYTHON) tests/tools/faults.py

portability: ## run the tests under -W error, in another locale, and without home, uv or stdin
	@$(PYTHON) tests/tools/portability.py

secrets: ## run the tests with canary keys, then search for the keys everywhere
	@$(PYTHON) tests/tools/canary.py

sdk-parity: $(TOOLS)/sdk ## compare Gemini's requests with those of Google's own SDK (PyPI)
	@$(TOOLS)/sdk/bin/python tests/run.py sdk_parity

pythons: ## run the tests under every installed CPython from 3.10 on
	@set -e; for python in $(PYTHONS); do "$$python" tests/run.py; done

install: ## copy the skill into ~/.claude/skills and ~/.agents/skills (DIR= another skills folder)
	@$(PYTHON) scripts/install.py install $(if $(DIR),--dir '$(DIR)',--command)

uninstall: ## remove these copies (DIR= as above)
	@$(PYTHON) scripts/install.py uninstall $(if $(DIR),--dir '$(DIR)')

package: ## write dist/: the skill as a zip file, the bundle for Claude Desktop, the entry for the MCP registry
	@$(PYTHON) scripts/install.py package

install-opencode: ## copy the opencode tool and plugin (DIR=project; else for the user)
	@$(PYTHON) scripts/install.py opencode $(if $(DIR),--dir '$(DIR)')

uninstall-opencode: ## remove the opencode tool and plugin (DIR= as above)
	@$(PYTHON) scripts/install.py opencode --uninstall $(if $(DIR),--dir '$(DIR)')

$(RUFF):
	$(PYTHON) -m venv $(TOOLS)/venv
	$(TOOLS)/venv/bin/python -m pip install --quiet --disable-pip-version-check ruff mypy

$(TOOLS)/sdk:
	$(PYTHON) -m venv $@
	$@/bin/python -m pip install --quiet --disable-pip-version-check google-genai || { rm -rf $@; exit 1; }

# skills-ref (its command is agentskills) and agnix read the skill as agents' hosts do.
$(SKILL_LINTERS): $(RUFF)
	$(TOOLS)/venv/bin/python -m pip install --quiet --disable-pip-version-check skills-ref agnix

$(RENDERER): $(RUFF)
	$(TOOLS)/venv/bin/python -m pip install --quiet --disable-pip-version-check markdown-it-py
