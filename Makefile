# SPDX-License-Identifier: MIT
# make                everything, into bin/
# make deps           installs what building and testing need (Debian, Ubuntu; by sudo unless root); deps-long for check-long
# make demo           the main job on an example kernel
# make check          the tests; check-sanitize, check-valgrind and check-long are the slow ones
# make validate       the model against hardware's counters
# make bench          rows a second, stage by stage
# make install        PREFIX=/usr/local DESTDIR=; and uninstall
VERSION := 0.1.0
PREFIX  ?= /usr/local
BUILD   ?= build
BIN     ?= bin
CFLAGS  ?= -O3 -g
GPU     ?= titanv
DEMO     = gemm<<<(8,32),(32,8)>>>(A=f32[256*256]:ramp, B=f32[256*256]:rand(1), C=f32[256*256], 256)
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wconversion
# pkg-config is asked when something is compiled, not before: make deps may bring it first.
PKGS     = $(shell pkg-config --exists msgpack-c && echo msgpack-c || echo msgpack) libpcre2-8 libxxhash liblz4 libzstd
DEFINES  = -D_POSIX_C_SOURCE=200809L -DPCRE2_CODE_UNIT_WIDTH=8 -DGT_VERSION='"$(VERSION)"' \
	-DGT_DATADIR='"$(PREFIX)/share/gtrace"'
# Position-independent and hidden, for the library's part in the stand-in CUDA runtime.
COMPILE  = $(CC) $(CPPFLAGS) -std=c11 $(WARN) -fPIC -fvisibility=hidden $(CFLAGS) $(SANITIZE) -Ilib $(DEFINES) $$(pkg-config --cflags $(PKGS))
LINK     = $(CC) $(CFLAGS) $(SANITIZE) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $$(pkg-config --libs $(PKGS)) -lm

LIB     := $(patsubst %.c,$(BUILD)/%.o,$(filter-out lib/ptx/cudart/%,$(wildcard lib/*/*.c lib/*/*/*.c)))
TOOLS   := $(patsubst tools/%.c,$(BIN)/%,$(filter-out tools/tool.c,$(wildcard tools/*.c)))
UNITS   := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/*.c))
BENCHES := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/bench/*.c tests/fuzz/*.c))
CUDART  := $(BUILD)/cudart/libcudart.so.13
DEPS    := gcc libc6-dev make git pkg-config libpcre2-dev libxxhash-dev liblz4-dev libzstd-dev bats parallel mandoc shellcheck clang valgrind \
	gzip xz-utils zstd gnuplot-nox python3 python3-numpy python3-msgpack python3-xxhash
DEPS_LONG := chromium fonts-dejavu-core openssh-client openssh-server slurm-wlm munge
SUDO    := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

all: $(TOOLS) $(BUILD)/libgtrace.a $(CUDART)

# With "deps" among the goals nothing may be compiled before it is done, however many jobs run.
$(BUILD)/%.o: %.c Makefile | $(filter deps,$(MAKECMDGOALS))
	@mkdir -p $(@D)
	$(COMPILE) -MMD -MP -c -o $@ $<
$(BUILD)/libgtrace.a: $(LIB)
	@rm -f $@
	$(AR) rcs $@ $^
$(BIN)/%: $(BUILD)/tools/%.o $(BUILD)/tools/tool.o $(BUILD)/libgtrace.a
	@mkdir -p $(@D)
	$(LINK)
$(CUDART): $(patsubst %.c,$(BUILD)/%.o,$(wildcard lib/ptx/cudart/*.c)) $(BUILD)/libgtrace.a lib/ptx/cudart/libcudart.map
	@mkdir -p $(@D)
	$(LINK) -lpthread -shared -Wl,-soname,$(@F),--version-script,$(filter %.map,$^)
$(BUILD)/tests/%: $(BUILD)/tests/%.o $(BUILD)/libgtrace.a
	$(LINK)
-include $(wildcard $(BUILD)/*/*.d $(BUILD)/*/*/*.d $(BUILD)/*/*/*/*.d)

INSTALL_PACKAGES = $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends
deps:
	$(SUDO) apt-get update -q
	$(INSTALL_PACKAGES) $(DEPS) \
		$$(apt-cache --names-only search '^libmsgpack-c-dev$$' | grep -q . && echo libmsgpack-c-dev || echo libmsgpack-dev)
deps-long: deps
	$(INSTALL_PACKAGES) $(DEPS_LONG)
demo: all
	$(BIN)/gtrace-ptx --launch '$(DEMO)' examples/kernels/ptx/gemm.ptx | $(BIN)/gcoalesce | \
		$(BIN)/gschedule --gpu $(GPU) | $(BIN)/gcache --l1 | $(BIN)/gcache --l2 | $(BIN)/gdram | $(BIN)/gstats
check: all $(UNITS) $(BENCHES)
	tests/run --bin $(BIN) --build $(BUILD)
# A stream may claim an array of 2^32 elements; that malloc refuses it must not end the test.
check-sanitize:
	ASAN_OPTIONS=allocator_may_return_null=1 $(MAKE) check BUILD=build-sanitize BIN=bin-sanitize CFLAGS='-O1 -g' \
		SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all'
check-valgrind: all
	tests/valgrind $(BIN)
check-long: check check-sanitize check-valgrind
	tests/run --bin $(BIN) --build $(BUILD) --jobs 1 tests/long/*.bats
# REFERENCE=my.csv: another table than those of tests/reference; ABLATION=1, ALL=1, ON=GPU (its README.md).
validate: all
	tests/validate --bin $(BIN) --build $(BUILD) $(if $(ABLATION),--ablation) $(if $(ALL),--all) $(addprefix --gpu ,$(ON)) $(REFERENCE)
bench: all $(BENCHES)
	tests/bench/run $(BIN) $(BUILD)

install: all
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin lib/pkgconfig lib/gtrace share/gtrace/gpus share/man/man1 share/man/man5 share/man/man7)
	install $(TOOLS) $(DESTDIR)$(PREFIX)/bin
	install -m 644 gpus/* $(DESTDIR)$(PREFIX)/share/gtrace/gpus
	for s in 1 5 7; do install -m 644 man/*.$$s $(DESTDIR)$(PREFIX)/share/man/man$$s; done
	install -m 644 $(BUILD)/libgtrace.a $(DESTDIR)$(PREFIX)/lib
	install $(CUDART) $(DESTDIR)$(PREFIX)/lib/gtrace
	for h in lib/gtrace.h $(filter-out lib/ptx/cudart/%,$(wildcard lib/*/*.h lib/*/*/*.h)); do install -D -m 644 $$h $(DESTDIR)$(PREFIX)/include/gtrace/$${h#lib/}; done
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' -e "s|@PKGS@|$(PKGS)|" lib/gtrace.pc.in \
		>$(DESTDIR)$(PREFIX)/lib/pkgconfig/gtrace.pc
uninstall:
	cd $(DESTDIR)$(PREFIX) && rm -f $(addprefix bin/,$(notdir $(TOOLS))) lib/libgtrace.a lib/pkgconfig/gtrace.pc \
		$(foreach s,1 5 7,$(addprefix share/man/man$s/,$(notdir $(wildcard man/*.$s))))
	rm -rf $(DESTDIR)$(PREFIX)/lib/gtrace $(DESTDIR)$(PREFIX)/share/gtrace $(DESTDIR)$(PREFIX)/include/gtrace
clean:
	rm -rf $(BUILD) $(BIN) build-sanitize bin-sanitize

.SECONDARY:
.PHONY: all deps deps-long demo check check-sanitize check-valgrind check-long validate bench install uninstall clean
