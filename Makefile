# web-search: what a person or CI runs. Python 3.10 or newer and make are enough for demo and test.

PYTHON ?= python3
# Development tools go here, outside the repository.
TOOLS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/web-search-dev
RUFF := $(TOOLS)/venv/bin/ruff
MYPY := $(TOOLS)/venv/bin/mypy
SKILL_LINTERS := $(TOOLS)/venv/bin/agnix
RENDERER := $(TOOLS)/venv/bin/markdown-it

.DEFAULT_GOAL := help
# Every CPython from 3.10 on that is here, the oldest first.
PYTHONS = $(shell for minor in 10 11 12 13 14 15; do for python in python3.$$minor $(HOME)/.pyenv/versions/3.$$minor.*/bin/python3; do \
	if $$python -c '' >/dev/null 2>&1; then echo $$python; break; fi; done; done)
# A step of ci: its name and its seconds stand before and after its output.
STEP = @step() { began=$$(date +%s); echo "=== $$*" >&2; "$$@" && echo "=== $$(($$(date +%s) - began)) s: $$*" >&2; }; step
.PHONY: help demo picture test test-long snapshots format lint sync ci nightly bench bench-extract bench-pdf faults secrets sdk-parity pythons \
	portability e2e-opencode e2e-mcp e2e-agents e2e-browser e2e-scale install uninstall package install-opencode \
	uninstall-opencode

help: ## list the targets
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

demo: ## show the main jobs against a local fake server: no key, no network
	@$(PYTHON) tests/tools/demo.py

picture: ## make README's pictures: a terminal, and the desk in a Chromium
	@$(PYTHON) tests/tools/picture.py

test: ## run the tests (standard library, loopback only)
	@$(PYTHON) tests/run.py

snapshots: ## write the snapshots of the tests anew (API=keyless: its alone): read the difference before you commit it
	@WRITE_SNAPSHOTS=1 $(PYTHON) tests/run.py $(API)_wire

test-long: ## run what takes longer: fuzz, concurrency, kill tests
	@$(PYTHON) tests/run.py --long

format: $(RUFF) ## put every Python file into the form that lint asks for
	$(RUFF) format .
	$(RUFF) check --fix .

lint: $(RUFF) $(SKILL_LINTERS) $(RENDERER) ## ruff, mypy --strict, the documents, the skill by skills-ref and agnix, what Markdown renders as
	$(RUFF) format --check .
	$(RUFF) check .
	$(MYPY) --strict --python-version 3.10 --cache-dir $(TOOLS)/mypy scripts
	$(MYPY) --strict --python-version 3.10 --cache-dir $(TOOLS)/mypy -p tests.fake_server
	$(PYTHON) -m unittest -q $(addprefix tests.skill.test_documents.,SkillFormat EveryDocument CommandLines Docstrings)
	@rm -rf $(TOOLS)/lint && mkdir -p $(TOOLS)/lint && $(PYTHON) scripts/install.py install --dir $(TOOLS)/lint >/dev/null
	$(TOOLS)/venv/bin/agentskills validate $(TOOLS)/lint/web-search
	$(SKILL_LINTERS) $(TOOLS)/lint/web-search
	$(TOOLS)/venv/bin/python -m unittest -q tests.pages.extract.test_live_markdown

# secrets runs all tests, here under the oldest Python: a run of `make test` beside it would be the same again.
ci: ## what a push runs, at most ten minutes on two cores: .ci/run calls it on a clean machine
	$(STEP) $(MAKE) --no-print-directory lint
	@$(PYTHON) -m compileall -q scripts  # else thousands of processes compile it anew
	$(STEP) $(MAKE) --no-print-directory secrets PYTHON=$(or $(firstword $(PYTHONS)),$(PYTHON))
	$(STEP) $(MAKE) --no-print-directory demo >$(TOOLS)/demo.txt || { cat $(TOOLS)/demo.txt; exit 1; }
	$(STEP) env FUZZ_SECONDS=36 ATTACK_SECONDS=12 ATTACK_SEED=1 $(PYTHON) tests/run.py --long fuzz attack
	$(STEP) $(PYTHON) tests/tools/faults.py --sample
	$(STEP) $(MAKE) --no-print-directory e2e-mcp

# make -k goes on after a part that fails; .ci/run nightly does.
nightly: test-long e2e-opencode e2e-agents e2e-browser e2e-scale portability sdk-parity pythons ## what a night runs beside ci

sync: ## copy the shared code and the parameter tables to where they are needed
	@$(PYTHON) tests/tools/sync.py

bench: ## time everything against its bar, count characters; prints a table
	@$(PYTHON) tests/bench/bench.py

bench-extract: ## measure page extraction against libraries (BENCH_DATA= the folder with pages)
	@$(PYTHON) tests/bench/bench_extract.py

bench-pdf: ## measure the text of PDF files against libraries (PDF_DATA= the folder with files)
	@$(PYTHON) tests/bench/bench_pdf.py

e2e-opencode: ## the tool in the real opencode, against local fakes (npm; skipped without)
	@$(PYTHON) tests/e2e/opencode.py

e2e-mcp: ## the servers with real MCP clients and schemathesis (PyPI, npm; skipped without)
	@$(PYTHON) tests/e2e/mcp.py

e2e-agents: ## the skill in real agents (Claude Code, Codex, Gemini CLI, opencode), with fake models
	@$(PYTHON) tests/e2e/agents.py

e2e-browser: ## pages that only a script fills in a real Chromium (Debian's; skipped without)
	@$(PYTHON) tests/e2e/browser.py

e2e-scale: ## references/scale.md as it stands: GNU parallel, Spark (Debian, PyPI; skipped without)
	@$(PYTHON) tests/e2e/scale.py

faults: ## every command x every fault x every way in, as a table
	@$(PYTHON) tests/tools/faults.py

portability: ## run the tests under -W error, another locale, without home, uv, stdin and the like
	@$(PYTHON) tests/tools/portability.py

secrets: ## run the tests with canary keys, then look for them everywhere
	@$(PYTHON) tests/tools/canary.py

sdk-parity: $(TOOLS)/sdk ## Gemini's requests compared with those of Google's own SDK (PyPI)
	@$(TOOLS)/sdk/bin/python tests/run.py sdk_parity

pythons: ## the tests under every CPython from 3.10 on that is here
	@set -e; for python in $(PYTHONS); do "$$python" tests/run.py; done

install: ## copy the skill into ~/.claude/skills and ~/.agents/skills (DIR= another skills folder)
	@$(PYTHON) scripts/install.py install $(if $(DIR),--dir '$(DIR)',--command)

uninstall: ## remove it again (DIR= as above)
	@$(PYTHON) scripts/install.py uninstall $(if $(DIR),--dir '$(DIR)')

package: ## write dist/: the skill as a zip, the bundle for Claude Desktop, the MCP registry's entry
	@$(PYTHON) scripts/install.py package

install-opencode: ## copy the opencode tool and plugin (DIR=project; else for the user)
	@$(PYTHON) scripts/install.py opencode $(if $(DIR),--dir '$(DIR)')

uninstall-opencode: ## remove them again (DIR= as above)
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
