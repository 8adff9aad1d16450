# The commands a developer needs. Everything installs into .venv; nothing outside this folder is touched.
PYTHON ?= python3
VENV := .venv
PIP := $(VENV)/bin/pip
INSTALLED := $(VENV)/.installed

.PHONY: demo test eval peers check format clean help

help:
	@echo "make demo    start Footnote with its sample workspace, nothing else needed"
	@echo "make test    run every test against real, embedded PostgreSQL and Redis"
	@echo "make eval    measure retrieval on the sample workspace against the committed figures"
	@echo "make peers   hold stand-ins and requests against official documents (needs Node 20)"
	@echo "make check   ruff, mypy --strict and the import contracts"

$(INSTALLED): pyproject.toml constraints.txt
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@echo "Installing Footnote into $(VENV) (about half a minute) ..."
	@$(PIP) install --quiet --disable-pip-version-check -c constraints.txt -e '.[attachments,embedded,eval,charts,rerank,dev]'
	@touch $@

demo: $(INSTALLED)
	@$(VENV)/bin/footnote demo

test: $(INSTALLED)
	$(VENV)/bin/python -m pytest -n 3 --dist worksteal

# The sample workspace is indexed first; its data stays apart from everybody's own.
EVAL := FOOTNOTE_HOME=$(CURDIR)/$(VENV)/eval NOTION_TOKEN= DATABASE_URL= REDIS_URL= EMBEDDING_MODEL= $(VENV)/bin/footnote

eval: $(INSTALLED)
	$(EVAL) demo < /dev/null > /dev/null
	$(EVAL) eval tests/golden/sample.jsonl --baseline tests/golden/baseline.json

peers: $(INSTALLED)
	PYTHON=$(CURDIR)/$(VENV)/bin/python tests/peers/run.sh

check: $(INSTALLED)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

format: $(INSTALLED)
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
