# SPDX-License-Identifier: MIT
# The functional simulation of [004]: the metrics of table 4, the improvements each left out in turn (table 5), the requests
# to L2 with and without an L1 before it (figure 10), and the reads of DRAM that L2's hit ratio foretells (figure 9). The GPU
# is a TITAN V as in table 3.
paper := yuan
GPU   ?= titanv
# What launches read by themselves is not in [004], and in its program a partial store makes its sectors valid.
L2    ?= --launch-reads none --partial keep
paper_options = $(GPU)
include $(dir $(lastword $(MAKEFILE_LIST)))paper.mk

pictures := $(addprefix $(out)/,improvements.svg csdd.svg)
tables   := $(addprefix $(out)/,metrics.tsv improvements.tsv figure9.tsv)
$(paper): $(tables) $(pictures)

$(out)/metrics.tsv: $(out)/points.csv
	@$(whole) awk -f $(paper_here)yuan-metrics.awk $< $(done)

$(out)/figure9.tsv: | $(counts)
	@$(whole) gstats --csv $(counts) | awk -f $(paper_here)yuan-figure9.awk $(done)

l2_sees = $(firstword $(COMPRESS)) -dc $(ordered) | gcoalesce --gpu $(GPU) | gschedule --gpu $(GPU) | gcache --l1 $1 | \
	grd --per global --granularity sector --csdd --total
$(out)/csdd-with-l1.tsv: | $(ordered)
	@$(whole) $(call l2_sees,) $(done)
$(out)/csdd-without-l1.tsv: | $(ordered)
	@$(whole) $(call l2_sees,--bypass all) $(done)
$(out)/csdd.svg: $(out)/csdd-without-l1.tsv $(out)/csdd-with-l1.tsv
	@$(whole) gplot csdd --names 'L2 sees all,L2 behind an L1' --title 'What reaches L2' $^ $(done)
include $(paper_here)improvements.mk
