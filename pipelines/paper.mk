# SPDX-License-Identifier: MIT
# What the papers' models share: a trace; tables and pictures, each written whole or not at all into a
# folder that is named by all they depend on; and showing them. A model sets `paper`, includes this,
# and then names `tables` and `pictures` below $(out) and says how each is made.

paper_here := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))
# A stream in order, whatever it comes from.
ifeq ($(strip $(TRACE)$(SOURCE)),)
TRACE := $(paper_here)../examples/traces/conv.rdgc.xz
endif
include $(paper_here)pipe.mk
.DEFAULT_GOAL := $(paper)
.DELETE_ON_ERROR:

paper_key := $(call pipe_digest,echo $(pipe_counts) $(call pipe_quote,$(paper_options)); $(pipe_here)digest \
	'$(addprefix $(paper_here),$(notdir $(wildcard $(paper_here)*.mk $(paper_here)*.awk $(paper_here)*.sweep)) sweep miss-classes nugteren-figure3 mei) \
	grd gplot gpchase gtrace-ptx gstats')
out := $(RESULTS)/$(paper)-$(paper_key)

# @$(whole) COMMAND $(done) makes the target of what a command prints.
whole = mkdir -p $(@D); trap 'rm -f $@.'$$$$ EXIT; {
done  = ; } >$@.$$$$; mv $@.$$$$ $@

# $(call sweep,FILE,GPU): runs a sweep file over the trace, for a GPU if there is one, and makes the
# CSV that is the target.
define sweep
@mkdir -p $(@D); \
printf 'input trace = %s\ntrace = trace\n$(if $2,gpu = $2\n)' $(call pipe_quote,$(SOURCE)) >$@.sweep; \
$(MAKE) --no-print-directory -s -f $(paper_here)sweep.mk SWEEP="$@.sweep $(paper_here)$1" RESULTS=$(RESULTS)/sweeps CSV=$@ >/dev/null
endef

.PHONY: $(paper)
$(paper):
	@for table in $(filter %.tsv,$(tables)); do \
		echo "$$(basename $$table .tsv)"; awk 'NR <= 20 { print "    " $$0 } END { if (NR > 20) print "    (" NR - 20 " more)"; print "" }' \
			$$table; \
	done; \
	printf '%s\n' $(tables) $(pictures)
