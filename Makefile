# SPDX-License-Identifier: BSD-3-Clause
# Front door: every target hands over to a CMake preset or a script; the build itself is CMake's.
PRESET ?= release
PREFIX ?= /usr/local
ROUNDS ?= 5
SECONDS ?= 1200
BUILD = $(if $(filter release,$(PRESET)),build,build-$(PRESET))

.PHONY: all product deps demo check accept bench fuzz install uninstall sanitize asan tsan clean

all:
	@cmake --preset $(PRESET) >/dev/null
	@cmake --build --preset $(PRESET)

# What is installed, without the tests.
product:
	@cmake --preset $(PRESET) >/dev/null
	@cmake --build --preset $(PRESET) --target product

deps:
	@cmake/deps.sh build check

demo:
	@cmake/deps.sh build
	@$(MAKE) --no-print-directory product
	@cmake --build --preset $(PRESET) --target heat.openmpi
	@tests/e2e/demo.sh $(BUILD)

check: deps
	@$(MAKE) --no-print-directory all sanitize
	@ctest --preset check

accept: deps
	@cmake/deps.sh accept
	@$(MAKE) --no-print-directory all
	@ctest --preset accept

bench: deps
	@cmake/deps.sh bench
	@$(MAKE) --no-print-directory all
	@tests/bench/bench.py $(BUILD) $(ROUNDS)

# Every fuzz target for SECONDS, then how much of each parser they reach.
fuzz: deps
	@$(MAKE) --no-print-directory all PRESET=fuzz
	@tests/fuzz/fuzz.sh build-fuzz $(SECONDS)
	@$(MAKE) --no-print-directory all PRESET=coverage
	@tests/fuzz/coverage.sh build-coverage build-fuzz/fuzz

# The unit tests once more under each sanitizer.
sanitize: asan tsan
asan tsan:
	@$(MAKE) --no-print-directory all PRESET=$@
	@ctest --preset $@

install: product
	@cmake --install $(BUILD) --prefix $(abspath $(PREFIX))

# What was installed from here, and the directories that were not there before.
uninstall:
	@test -r $(BUILD)/install_manifest.txt || { echo "nothing was installed from $(BUILD)" >&2; exit 1; }
	@while IFS= read -r file || [ -n "$$file" ]; do \
		$(RM) -v "$(DESTDIR)$$file"; \
	done <$(BUILD)/install_manifest.txt
	@sort -ru $(BUILD)/install_directories.txt | while IFS= read -r directory; do \
		! rmdir "$(DESTDIR)$$directory" 2>/dev/null || echo "removed '$(DESTDIR)$$directory'"; \
	done
	@$(RM) $(BUILD)/install_manifest.txt $(BUILD)/install_directories.txt

clean:
	@$(RM) -r build build-dev build-asan build-tsan build-fuzz build-coverage
