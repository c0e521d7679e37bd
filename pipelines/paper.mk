# SPDX-License-Identifier: MIT
# The common part of the papers' models: a trace; tables and pictures, each written completely or not at all into a folder
# whose name depends on all inputs; and rules that show them. A model sets `paper`, includes this file, and then lists
# `tables` and `pictures` below $(out) with their rules.

# make parts names at spaces.
$(if $(word 2,$(CURDIR))$(filter-out $(wildcard $(MAKEFILE_LIST)),$(MAKEFILE_LIST)),$(error make takes no folder with a space in its name: expected \
	another for '$(CURDIR)' and for '$(strip $(MAKEFILE_LIST))'))
paper_here := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))
# A stream in logical order, from any source.
ifeq ($(strip $(TRACE)$(SOURCE)),)
TRACE := $(paper_here)../examples/traces/conv.rdgc.xz
endif
include $(paper_here)pipe.mk
.DEFAULT_GOAL := $(paper)
.DELETE_ON_ERROR:

paper_key := $(call pipe_digest,echo $(pipe_counts) $(call pipe_quote,$(paper_options)); $(pipe_here)digest \
	'$(addprefix $(paper_here),$(notdir $(wildcard $(addprefix $(paper_here)*.,mk awk sweep gpu))) sweep first-threads miss-classes nugteren nugteren-figure3 nugteren-figure9 mei \
	kim-kernels kim-table3 kim.table3) \
	grd gplot gpchase gtrace-ptx gstats')
out := $(RESULTS)/$(paper)-$(paper_key)

# @$(whole) COMMAND $(done) makes the target from the output of a command.
whole = mkdir -p $(@D); trap 'rm -f $@.'$$$$ EXIT; {
done  = ; } >$@.$$$$; mv $@.$$$$ $@

# $(call sweep,FILE,GPU,FILTER): runs a sweep file over the trace, or what a filter makes of it, for a GPU if there is one,
# and makes the CSV that is the target.
define sweep
@mkdir -p $(@D); \
printf 'input trace = %s\ntrace = trace\n$(if $2,gpu = $2\n)' $(call pipe_quote,$(SOURCE)$3) >$@.sweep; \
$(MAKE) --no-print-directory -s -f $(paper_here)sweep.mk SWEEP="$@.sweep $(paper_here)$1" RESULTS=$(RESULTS)/sweeps CSV=$@ >/dev/null
endef

.PHONY: $(paper)
$(paper):
	@for table in $(filter %.tsv,$(tables)); do \
		echo "$$(basename $$table .tsv)"; awk 'NR <= 20 { print "    " $$0 } END { if (NR > 20) print "    (" NR - 20 " more)"; print "" }' \
			$$table; \
	done; \
	printf '%s\n' $(tables) $(pictures)
