# every target is one of tools/dev.py, which does the same without make: python -m tools.dev TARGET, and --help lists them.
# PYTHON names the interpreter (3.11 or newer). UNCHECKED=--allow-unchecked lets `check` pass where no service that knows
# vulnerabilities can be reached; WHEELS names a folder of Pyodide's packages for `browser` (docs/install.md)
PYTHON ?= python3
TARGETS := setup dev deep spark sdgym peers app test test-all check bench audit mutants screenshots dist bundle docs browser lock clean
.PHONY: $(TARGETS)
$(TARGETS):
	@$(PYTHON) -m tools.dev $@ $(UNCHECKED) $(if $(WHEELS),--wheels $(WHEELS))
