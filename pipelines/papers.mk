# SPDX-License-Identifier: MIT
# One table of every number of the papers beside ours. Each script of papers/ prints rows of six fields, separated by tabs,
# or seven:
#
#     paper  figure or table  what  the paper's value  ours  exact|model|input|fitted|not tried  [why they differ]
#
#     make -C pipelines papers              all, then a summary
#     make -C pipelines papers ONLY=mei     those of one script
#     make -C pipelines papers PAGE=1       all, and docs/papers.md from them, with its pictures
#
# Lines on standard error say what is done. A make that was stopped goes on behind the last part that is whole (pipelines/part).
# make parts names at spaces.
$(if $(word 2,$(CURDIR))$(filter-out $(wildcard $(MAKEFILE_LIST)),$(MAKEFILE_LIST)),$(error make takes no folder with a space in its name: expected \
	another for '$(CURDIR)' and for '$(strip $(MAKEFILE_LIST))'))
papers_here := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))
export PATH := $(PATH):$(abspath $(papers_here)../bin)
SHELL := bash
.SHELLFLAGS := -e -u -o pipefail -c
RESULTS ?= results
ONLY    ?= $(sort $(notdir $(wildcard $(papers_here)papers/*)))

rows   := $(patsubst %,$(RESULTS)/papers/%.tsv,$(ONLY))
# What any row may depend on.
inputs := $(wildcard $(addprefix $(papers_here),* ../bin/* ../gpus/* ../examples/kernels/ptx/* ../examples/traces/*))

# The scripts take one processor each.
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell getconf _NPROCESSORS_ONLN)
endif

.PHONY: papers
papers: $(rows)
	@awk -f $(papers_here)papers.awk $(rows)
	@$(if $(PAGE),$(papers_here)papers-page $(papers_here)../docs $(rows))
# A file of rows is complete, or not there; so are its parts, which hold for these inputs and are gone when all rows are there.
$(rows): $(RESULTS)/papers/%.tsv: $(papers_here)papers/% $(inputs)
	@export PARTS=$(@D)/$*.parts; trap 'rm -f $@.'$$$$ EXIT; mkdir -p $(@D); \
	if [ ! -e $$PARTS/begun ] || [ -n "$$(find $< $(inputs) -newer $$PARTS/begun)" ]; then \
		rm -rf $$PARTS; mkdir $$PARTS; touch $$PARTS/begun; \
	fi; \
	$< >$@.$$$$; mv $@.$$$$ $@; rm -rf $$PARTS; \
	echo "papers: $*: $$(wc -l <$@) rows, $$SECONDS s" >&2
