# SPDX-License-Identifier: MIT
# The model of [000], parallel caches in time: the metrics of 5.2 for a GPU (a GTX 970, as in its table 5), and the
# latencies, the exploration and the L2 parallelism of 5.1 and 5.3 from its baseline (rdgc.gpu), with the pictures of figures
# 5 and 9 to 17.
paper := rdgc
GPU   ?= gtx970
paper_options = $(GPU)
include $(dir $(lastword $(MAKEFILE_LIST)))paper.mk

sections := latency l1-size l2-size l1-index l2-index l1-replace l2-replace line l1-ways l2-ways blocks
tables   := $(addprefix $(out)/,metrics.tsv points.csv parallelism.csv l2-distances.tsv)
pictures := $(patsubst %,$(out)/%.svg,$(sections) latency-stalls latency-steps parallelism-mru parallelism-steps l2-distances)
$(paper): $(tables) $(pictures)

baseline := $(paper_here)rdgc.gpu
$(out)/metrics.csv:
	$(call sweep,rdgc-metrics.sweep,$(GPU))
$(out)/metrics.tsv: $(out)/metrics.csv
	@$(whole) awk -f $(paper_here)rdgc-metrics.awk $< $(done)
$(out)/points.csv:
	$(call sweep,rdgc.sweep,$(baseline))
$(out)/parallelism.csv:
	$(call sweep,rdgc-parallelism.sweep,$(baseline))

# Figure 14.
$(out)/l2-distances.tsv: $(out)/points.csv
	@$(whole) awk -f $(paper_here)rdgc-distances.awk $< $(done)
$(out)/l2-distances.svg: $(out)/l2-distances.tsv
	@$(whole) gplot bars -x distance -y reads,writes --stack --x-label 'reuse distance in the set' --y-label 'lookups of L2' $< $(done)

# Figures 9 to 13 and 15, and 5 a): hit ratios against the varied parameter.
along = $(subst l1-,l1.,$(subst l2-,l2.,$(patsubst latency%,l1-latency,$(patsubst blocks,map,$(patsubst line,l1-line,$1)))))
hits  = gplot sweep -x '$(call along,$1)' -y 'L1=l1.read_hit_rate,L2=l2.read_hit_rate' --y-label 'sectors read that hit (%)' \
	--where section=$1
$(filter-out $(out)/latency.svg $(out)/line.svg,$(patsubst %,$(out)/%.svg,$(sections))): $(out)/%.svg: $(out)/points.csv
	@$(whole) $(call hits,$*) $< $(done)
# Figure 5 a), with merges as misses and as hits.
$(out)/latency.svg: $(out)/points.csv
	@$(whole) gplot sweep -x l1.latency -y 'hits=l1.read_hit_rate,hits and merges=l1.merged_read_hit_rate' \
		--y-label 'sectors read that hit L1 (%)' --where section=latency $< $(done)
# Figure 12 changes the lines of both levels.
$(out)/line.svg: $(out)/points.csv
	@$(whole) $(call hits,line) --panel l2.line $< $(done)
# Figure 5 b) and c), and d).
$(out)/latency-stalls.svg: $(out)/points.csv
	@$(whole) gplot bars -x l1.latency -y 'reservation fails=l1.reservation_fails,merges=l1.merges' --where section=latency $< $(done)
$(out)/latency-steps.svg: $(out)/points.csv
	@$(whole) gplot bars -x l1.latency -y 'steps=l1.steps' --where section=latency $< $(done)
# Figures 16 and 17.
comma := ,
empty :=
mru   := $(subst $(empty) ,$(comma),$(foreach k,0 1 2 3 4 5 6 7,$k=l2.mru[$k]))
$(out)/parallelism-mru.svg: $(out)/parallelism.csv
	@$(whole) gplot bars -x l2.partitions -y '$(mru)' --panel l2.banks --stack --y-label 'hits by place in the LRU stack' $< $(done)
$(out)/parallelism-steps.svg: $(out)/parallelism.csv
	@$(whole) gplot sweep -x l2.partitions -y 'steps=l2.steps' --by l2.banks $< $(done)
