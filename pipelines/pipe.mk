# SPDX-License-Identifier: MIT
# The whole pipe, with cached results: a result's name contains a digest of the content of the input, the options, the GPU
# description and the programs. A repeated run finds its result; any other run has another name.
#
#     make -f pipelines/pipe.mk TRACE=examples/traces/gemm.rdgc.xz GPU=titanv
#     make -f pipelines/pipe.mk SOURCE='gtrace-record ./gemm 512' GPU=titanv
#
# Or include this file in a Makefile that sets the variables. README.md describes more.

TRACE    ?=
SOURCE   ?= $(if $(strip $(TRACE)),gtrace-order $(ORDER) $(TRACE))
GPU      ?=
ORDER    ?=
COALESCE ?=
SCHEDULE ?=
L1       ?=
L2       ?=
DRAM     ?=
REPORT   ?=
PARTS    ?= 1
PART     ?= $(SLURM_ARRAY_TASK_ID)
RESULTS  ?= results
# gcoalesce comes before the stage that writes the GPU into the stream.
pipe_rule = $(if $(GPU),$(if $(findstring --rule,$(COALESCE)),,--gpu $(GPU)))
MODEL    ?= gcoalesce $(pipe_rule) $(COALESCE) | gschedule $(if $(GPU),--gpu $(GPU)) $(SCHEDULE) | gcache --l1 $(L1) \
	| gcache --l2 $(L2) | gdram $(DRAM)
COMPRESS ?= $(if $(shell command -v zstd),zstd -q,gzip -1)

# make parts names at spaces.
$(if $(word 2,$(CURDIR))$(filter-out $(wildcard $(MAKEFILE_LIST)),$(MAKEFILE_LIST)),$(error make takes no folder with a space in its name: expected \
	another for '$(CURDIR)' and for '$(strip $(MAKEFILE_LIST))'))
pipe_here := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))
export PATH := $(PATH):$(abspath $(pipe_here)../bin)
SHELL := bash
.SHELLFLAGS := -e -u -o pipefail -c

.PHONY: report ordered part results-clean
report:

pipe_number = $(lastword $(subst -, ,$(firstword $(subst -of-, ,$1))))
pipe_quote = '$(subst ','\'',$(strip $1))'
# The first 16 digits of the SHA-256 of what commands print; nothing if one of them fails.
pipe_digest = $(shell set -e -o pipefail; PATH=$(call pipe_quote,$(PATH)); digest=$$({ $1; } | sha256sum); \
	echo "$${digest:0:16}")
pipe_check = $(if $1,,$(error $2: cannot be read))
ifeq ($(filter results-clean,$(MAKECMDGOALS)),)
ifeq ($(strip $(SOURCE)),)
$(error TRACE is not set. Usage: make -f pipelines/pipe.mk TRACE=file GPU=name [L1='--size 64K'] and so on)
endif
$(if $(filter part,$(MAKECMDGOALS)),$(if $(filter $(PART),$(shell seq $(PARTS))),,$(error PART=$(PART): expected a number from 1 to PARTS=$(PARTS))))
$(foreach trace,$(TRACE),$(if $(wildcard $(trace)),,$(error TRACE=$(trace): no such file in $(CURDIR))))
$(if $(shell PATH=$(call pipe_quote,$(PATH)); command -v gtrace-order),,$(error gtrace-order: not found. Run make first, or put gtrace's programs on PATH))

# A trace is identified by its content, a command by its words and the content of what they name.
pipe_ordered := $(call pipe_digest,echo $(call pipe_quote,$(if $(TRACE),$(ORDER),$(SOURCE))); \
	$(pipe_here)digest $(call pipe_quote,$(SOURCE)))
$(call pipe_check,$(pipe_ordered),$(if $(TRACE),TRACE=$(TRACE),SOURCE=$(SOURCE)))
pipe_counts  := $(call pipe_digest,echo $(pipe_ordered) $(call pipe_quote,$(MODEL)); \
	$(pipe_here)digest $(call pipe_quote,$(MODEL)); $(if $(GPU),$(pipe_here)digest --gpu $(GPU),:))
$(call pipe_check,$(pipe_counts),GPU=$(GPU))
pipe_report  := $(call pipe_digest,echo $(pipe_counts) $(filter-out 1,$(PARTS)) $(call pipe_quote,$(REPORT)); $(pipe_here)digest gstats)
endif

ordered := $(RESULTS)/ordered-$(pipe_ordered).gt.$(if $(filter gzip,$(firstword $(COMPRESS))),gz,zst)
# The counts of part K are counts-DIGEST-K-of-PARTS.gt.
pipe_part = $(RESULTS)/counts-$(pipe_counts)$(if $(filter-out 1,$(PARTS)),-$1-of-$(PARTS)).gt
counts  := $(foreach k,$(shell seq $(PARTS)),$(call pipe_part,$k))
report  := $(RESULTS)/report-$(pipe_report).txt

# Writes a pipe's output under a temporary name first and checks it, if a check is given. So a result with its final name
# is complete, even if two makes produce the same one.
define pipe_make
mkdir -p $(@D); \
trap 'rm -f $@.'$$$$ EXIT; \
{ $1; } >$@.$$$$; \
$(if $2,$2 <$@.$$$$ >/dev/null;) \
mv $@.$$$$ $@
endef

report: $(report)
	@cat $<
# For the tasks of an array: one orders the trace, then each models its part.
ordered: $(ordered)
part: $(call pipe_part,$(PART))

# A result's name contains all its dependencies, so file times do not matter.
$(ordered):
	@$(call pipe_make,$(SOURCE) | $(COMPRESS) -c)
$(counts): | $(ordered)
	@$(call pipe_make,$(firstword $(COMPRESS)) -dc $(ordered) $(if $(filter-out 1,$(PARTS)),| gtrace-cat --part $(call pipe_number,$@)/$(PARTS)) | $(MODEL),gtrace-cat --no-rows)
$(report): | $(counts)
	@$(call pipe_make,gstats $(if $(filter-out 1,$(PARTS)),--merge) $(REPORT) $(counts))

# Deletes all results. Nothing else does, so old ones can be found again.
results-clean:
	rm -f $(RESULTS)/ordered-*.gt.* $(RESULTS)/counts-*.gt $(RESULTS)/report-*.txt
