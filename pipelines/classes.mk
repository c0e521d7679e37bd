# SPDX-License-Identifier: MIT
# The miss classes of [002] 6.1, for models that include paper.mk.
$(out)/trace: | $(ordered)
	@$(whole) $(firstword $(COMPRESS)) -dc $(ordered) $(done)
$(out)/classes.tsv: $(out)/trace
	@$(whole) $(paper_here)miss-classes --seeds $(SEEDS) $< $(done)
$(out)/classes.svg: $(out)/classes.tsv
	@$(whole) gplot bars -x way -y compulsory,capacity,conflict,latency,mshr --y-label 'misses (lines)' $< $(done)
