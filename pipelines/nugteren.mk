# SPDX-License-Identifier: MIT
# The model of [002] on a GTX 470: reuse distances of each warp and of all warps together (figure 1), the miss classes of
# 6.1 by ablations over seeds, and the experiment of figure 3.
paper := nugteren
GPU   ?= gtx470-16k
SEEDS ?= 5
# Threads of the largest block of figure 3.
MOST  ?= 1024
paper_options = $(GPU) $(SEEDS) $(MOST)
include $(dir $(abspath $(lastword $(MAKEFILE_LIST))))paper.mk

tables   := $(addprefix $(out)/,classes.tsv figure3.tsv distances.tsv)
pictures := $(addprefix $(out)/,classes.svg figure3.svg distances.svg)
$(paper): $(tables) $(pictures)

scheduled = $(firstword $(COMPRESS)) -dc $(ordered) | gcoalesce --gpu $(GPU) | gschedule --gpu $(GPU)
$(out)/distances.tsv: | $(ordered)
	@$(whole) $(scheduled) | grd --per sm --op loads --profile --total $(done)
$(out)/distances.svg: $(out)/distances.tsv
	@$(whole) gplot histogram --title 'Loads of an SM' $< $(done)
$(out)/figure3.tsv:
	@$(whole) $(paper_here)nugteren-figure3 100,50 $(MOST) $(done)
$(out)/figure3.svg: $(out)/figure3.tsv
	@$(whole) gplot sweep -x threads -y 'measured,expected,round robin=round_robin,timed with 6 MSHRs a warp=timed_6,timed=timed_any' \
		--x-label 'threads of the block' --y-label 'lines of loads that miss (%)' $< $(done)
include $(paper_here)classes.mk
