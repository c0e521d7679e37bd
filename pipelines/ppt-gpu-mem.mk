# SPDX-License-Identifier: MIT
# The predictions of PPT-GPU-Mem ([004] 2.4, 3.2): hit ratios of L1 and L2 from reuse profiles by SDCM. That of L2 is found
# from all requests of the SMs, and from those that remain after the hits of L1 are filtered out ([004] 5.3.2). The hit
# ratios of the functional model's caches are printed beside them.
#
#     make -f pipelines/ppt-gpu-mem.mk TRACE=examples/traces/gemm.rdgc.xz GPU=titanv
#     make -f pipelines/ppt-gpu-mem.mk SOURCE='gtrace-record ./gemm 512' GPU=titanv
#     make -f pipelines/ppt-gpu-mem.mk csdd TRACE=... GPU=...
#
# Without them it uses an example and a TITAN V. All variables of pipe.mk apply. PPT_L1 and PPT_L2 are SIZE,WAYS,LINE of the
# predicted caches.

.PHONY: hit-ratios csdd
hit-ratios:

# make parts names at spaces.
$(if $(word 2,$(CURDIR))$(filter-out $(wildcard $(MAKEFILE_LIST)),$(MAKEFILE_LIST)),$(error make takes no folder with a space in its name: expected \
	another for '$(CURDIR)' and for '$(strip $(MAKEFILE_LIST))'))
ppt_here := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))
export PATH := $(PATH):$(abspath $(ppt_here)../bin)

GPU ?= titanv
ifeq ($(strip $(TRACE)$(SOURCE)),)
TRACE := $(ppt_here)../examples/traces/conv.rdgc.xz
endif
ifeq ($(filter results-clean,$(MAKECMDGOALS)),)
# The values of the description, a word each: "l1.size=128K". Lines are as long as sectors, as in PPT-GPU-Mem ([004] 3.1).
ppt_figures := $(shell PATH='$(PATH)'; echo | gtrace-cat --from | gschedule --gpu $(GPU) | gtrace-cat | \
	sed -n 's/ /_/g; /^.gpu/p')
$(if $(ppt_figures),,$(error GPU=$(GPU): cannot be read))
ppt_figure = $(patsubst $1=%,%,$(filter $1=%,$(ppt_figures)))
ppt_sector = $(firstword $(filter-out line,$(call ppt_figure,$1.sector)) $(call ppt_figure,$1.line))
# The number of ways if they are given as full or full/SETS.
ppt_ways = $(if $(filter full%,$(call ppt_figure,$1.ways)),$(shell PATH='$(PATH)'; gtrace-cat --gpu $(GPU) | \
	sed -n 's/^$1 .* sets* of \([0-9]*\).*/\1/p'),$(call ppt_figure,$1.ways))
PPT_L1 ?= $(call ppt_figure,l1.size),$(call ppt_ways,l1),$(call ppt_sector,l1)
PPT_L2 ?= $(call ppt_figure,l2.size),$(call ppt_ways,l2),$(call ppt_sector,l2)
endif

ppt_scheduled = gcoalesce $(if $(findstring --rule,$(COALESCE)),,--gpu $(GPU)) $(COALESCE) | gschedule --gpu $(GPU) $(SCHEDULE)
ppt_predict = grd --by op --count --name $1
ifneq ($(filter csdd,$(MAKECMDGOALS)),)
ppt_profile = grd --per global --line $(call ppt_sector,l2) --bound 65536 --name $1
MODEL = $(ppt_scheduled) | $(call ppt_profile,unfiltered) | gcache --l1 $(L1) | $(call ppt_profile,filtered)
else
MODEL = $(ppt_scheduled) | $(call ppt_predict,ppt_l1) --per sm --sdcm $(PPT_L1) \
	| $(call ppt_predict,ppt_l2) --per global --sdcm $(PPT_L2) | gcache --l1 $(L1) \
	| $(call ppt_predict,ppt_l2_filtered) --per global --sdcm $(PPT_L2) | gcache --l2 --launch-reads none $(L2) | gdram $(DRAM)
endif
REPORT = --csv

include $(ppt_here)pipe.mk

# hit-ratios: of each kernel and of all, in percent of the references of all operations, and of loads.
hit-ratios: $(report)
	@awk -F, -f $(ppt_here)ppt-gpu-mem.awk $<

# csdd: the share of references to L2 whose distance, in sectors, is smaller ([004] fig. 10); beyond
# the bound at its doubles only.
csdd: $(report)
	@awk -F, 'BEGIN { OFS = "\t"; print "kernel", "sequence", "distance", "fraction" } \
		$$3 == "references" { all = $$4; below = 0 } \
		match($$3, /^(distance|far)\[/) && $$4 > 0 { i = substr($$3, RLENGTH + 1) + 1; below += $$4; \
			print $$1, $$2, ($$3 ~ /^far/ ? 65536 * 2 ^ i : i), sprintf("%.6f", below / all) }' $<
