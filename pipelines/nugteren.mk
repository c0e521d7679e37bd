# SPDX-License-Identifier: MIT
# The model of [002] on a GTX 470: reuse distances of each warp and of all warps together (figure 1), the miss classes of
# 6.1 by ablations over seeds, its tables 1 to 5, the experiments of figures 3, 7 and 9, and the parameters of figure 12.
paper := nugteren
GPU   ?= gtx470-16k
SEEDS ?= 5
# Threads of the largest block of figure 3.
MOST  ?= 1024
paper_options = $(GPU) $(SEEDS) $(MOST)
include $(dir $(lastword $(MAKEFILE_LIST)))paper.mk

tables     := $(addprefix $(out)/,classes.tsv tables.tsv figure3.tsv figure3-latencies.tsv figure9.tsv figure12.tsv distances.tsv)
pictures   := $(addprefix $(out)/,classes.svg figure3.svg figure12.svg distances.svg)
$(paper): $(tables) $(pictures)

scheduled = $(firstword $(COMPRESS)) -dc $(ordered) | gcoalesce --gpu $(GPU) | gschedule --gpu $(GPU)
$(out)/distances.tsv: | $(ordered)
	@$(whole) $(scheduled) | grd --per sm --op loads --profile --total $(done)
$(out)/distances.svg: $(out)/distances.tsv
	@$(whole) gplot histogram --title 'Loads of an SM' $< $(done)
$(out)/tables.tsv:
	@$(whole) $(paper_here)nugteren all $(done)
$(out)/figure3.tsv:
	@$(whole) $(paper_here)nugteren-figure3 --seeds $(SEEDS) $(MOST) $(done)
$(out)/figure3-latencies.tsv:
	@$(whole) $(paper_here)nugteren-figure3 --sweep --seeds $(SEEDS) $(MOST) $(done)
$(out)/figure3.svg: $(out)/figure3.tsv
	@$(whole) gplot sweep -x threads -y 'measured,expected,round robin=round_robin,timed=access,timed by the first lane=first_lane,timed with --fill next=next' \
		--x-label 'threads of the block' --y-label 'lines of loads that miss (%)' $< $(done)
$(out)/figure9.tsv:
	@$(whole) $(paper_here)nugteren-figure9 $(done)
# As in 4.6, one core with the first 8192 threads of each launch.
$(out)/figure12.csv:
	$(call sweep,nugteren.sweep,$(GPU), | $(paper_here)first-threads 8192)
$(out)/figure12.tsv: $(out)/figure12.csv
	@$(whole) awk -f $(paper_here)nugteren-figure12.awk $< $(done)
$(out)/figure12.svg: $(out)/figure12.tsv
	@$(whole) gplot bars -x value -y 'misses=miss_rate,latency misses=latency_misses' --panel parameter --y-label 'lines of loads (%)' $< $(done)
include $(paper_here)classes.mk
