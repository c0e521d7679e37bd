# SPDX-License-Identifier: MIT
# make            everything, into bin/
# make deps       install what building and testing need (Debian, Ubuntu; asks for root by sudo)
# make check      the tests; check-sanitize and check-long are the slow ones
# make demo       the main job on a sample trace
# make bench      rows per second, stage by stage
# make install    PREFIX=/usr/local DESTDIR=
VERSION := 0.1.0
PREFIX  ?= /usr/local
BUILD   ?= build
BIN     ?= bin
CC      ?= gcc
CFLAGS  ?= -O3 -g
MSGPACK := $(shell pkg-config --exists msgpack-c 2>/dev/null && echo msgpack-c || echo msgpack)
PKGS    := $(MSGPACK) libpcre2-8 libxxhash
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wconversion
override CFLAGS += -std=c11 $(WARN) $(SANITIZE) -Ilib -D_POSIX_C_SOURCE=200809L -DPCRE2_CODE_UNIT_WIDTH=8 \
	-DGT_VERSION='"$(VERSION)"' -DGT_DATADIR='"$(PREFIX)/share/gtrace"' $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
LDLIBS  := $(shell pkg-config --libs $(PKGS) 2>/dev/null) -lm

LIB   := $(patsubst %.c,$(BUILD)/%.o,$(wildcard lib/*/*.c))
TOOLS := $(patsubst tools/%.c,$(BIN)/%,$(filter-out tools/tool.c,$(wildcard tools/*.c)))
UNITS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/*.c))

all: $(TOOLS)

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/libgtrace.a: $(LIB)
	$(AR) rcs $@ $^
$(BIN)/%: $(BUILD)/tools/%.o $(BUILD)/tools/tool.o $(BUILD)/libgtrace.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(BUILD)/libgtrace.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
-include $(wildcard $(BUILD)/*/*.d $(BUILD)/*/*/*.d)

check: all $(UNITS)
	tests/run --bin $(BIN) --units $(BUILD)/tests/unit
.SECONDARY:
.PHONY: all check
