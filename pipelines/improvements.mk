# SPDX-License-Identifier: MIT
# The improvements of [004] table 5, each left out in turn, for models that include paper.mk.
$(out)/points.csv:
	$(call sweep,yuan.sweep,$(GPU))
$(out)/improvements.tsv: $(out)/points.csv
	@$(whole) awk -f $(paper_here)yuan-improvements.awk $< $(done)
$(out)/improvements.svg: $(out)/improvements.tsv
	@$(whole) gplot bars -y 'L1=l1_read_hit_rate,L2=l2_read_hit_rate' --y-label 'sectors read that hit (%)' $< $(done)
