# SPDX-License-Identifier: Apache-2.0
# The front door; Meson and Ninja do the work. `make help` lists what there is.

BUILD      ?= build
ASAN_BUILD ?= build-asan
PREFIX     ?= /usr/local
TIME       ?= 60
export BUILD ASAN_BUILD TIME

WERROR  := $(if $(CI),-Dwerror=true)
ASAN    := -Db_sanitize=address,undefined -Db_lundef=false
# What Meson finds is for the eye only when it fails.
meson    = if [ -f $(1)/build.ninja ]; then meson configure $(1) $(2) >/dev/null; \
           else said=$$(meson setup $(1) $(2) 2>&1) || { echo "$$said"; exit 1; }; fi
compile  = $(call meson,$(1),$(2)) && ninja -C $(1)

.DEFAULT_GOAL := build
.PHONY: help build demo test test-real test-deep bench fuzz lint install clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' $(MAKEFILE_LIST)

build: ## build/src/devimg and the libraries
	@tools/deps.sh build
	@$(call compile,$(BUILD),--buildtype=debugoptimized $(WERROR))

demo: build ## the main job on a real library
	@tools/demo.sh $(BUILD)/src/devimg

test: ## all tests, and again under ASan and UBSan
	@tools/deps.sh build test
	@$(call compile,$(BUILD),--buildtype=debugoptimized $(WERROR))
	@$(call compile,$(ASAN_BUILD),--buildtype=debugoptimized $(WERROR) $(ASAN))
	@python3 tests/run.py $(BUILD) $(ASAN_BUILD)

test-real: build ## shipped wheels, and SYCL and CUDA code compiled here (downloads about 2 GB)
	@tools/deps.sh test real
	@tests/real/run.sh $(BUILD)/src/devimg

test-deep: ## every cut and flip, -fanalyzer, fuzzers, 32-bit
	@tools/deps.sh build test deep
	@$(call compile,$(BUILD),--buildtype=debugoptimized $(WERROR))
	@$(call compile,$(ASAN_BUILD),--buildtype=debugoptimized $(WERROR) $(ASAN))
	@tests/deep/run.sh $(BUILD) $(ASAN_BUILD)

bench: ## speed and memory as ratios to cat and libzstd
	@tools/deps.sh build
	@$(call compile,$(BUILD)-release,--buildtype=release)
	@python3 bench/configure.py $(BUILD)-release
	@python3 bench/compile.py $(BUILD)-release/src/devimg
	@python3 bench/lint.py $(BUILD)-release/src/devimg
	@bench/run.sh $(BUILD)-release/src/devimg

fuzz: ## every fuzz target for TIME seconds
	@tools/deps.sh build deep
	@fuzz/run.sh

lint: ## formatting, clang-tidy, cppcheck, layers, docs
	@tools/deps.sh build lint
	@$(call meson,$(BUILD),--buildtype=debugoptimized $(WERROR))
	@tools/lint.sh $(BUILD)

install: ## under PREFIX, with DESTDIR
	@tools/deps.sh build
	@$(call compile,$(BUILD)-release,--buildtype=release --prefix=$(PREFIX) -Dtests=disabled)
	@meson install -C $(BUILD)-release --no-rebuild

clean: ## remove what was built
	rm -rf $(BUILD) $(BUILD)-release $(ASAN_BUILD) build-fuzz
