# SPDX-License-Identifier: MIT
# The dissection of [001]: tables 1 and 3 to 5 and figures 2, 5 and 7 to 12, with the paper's numbers beside ours, and pictures
# like figures 7, 9 and 11. It measures GPUs, so it takes no trace.
paper := mei
SOURCE = mei all
include $(dir $(lastword $(MAKEFILE_LIST)))paper.mk

names    := table1 table3 table4 capacity table5 figure2 figure5 figure7 figure8 figure9 orders figure10 figure11 figure12
tables   := $(patsubst %,$(out)/%.tsv,$(names))
pictures := $(patsubst %,$(out)/%.svg,figure7 figure9 figure11)
$(paper): $(tables) $(pictures)

$(tables): $(out)/%.tsv:
	@$(whole) $(paper_here)mei $* $(done)
$(out)/figure7.svg: $(out)/figure7.tsv
	@$(whole) gplot sweep -x stride -y '4-byte mode=ours_4,8-byte mode=ours_8,Fermi=fermi' --log xy \
		--x-label 'stride (words)' --y-label 'ways of bank conflict' $< $(done)
$(out)/figure9.svg: $(out)/figure9.tsv
	@$(whole) gplot sweep -x N -y 'weighted=ours,order,LRU=lru' --log none --x-label 'array (bytes)' \
		--y-label 'accesses that miss (%)' $< $(done)
$(out)/figure11.svg: $(out)/figure11.tsv
	@$(whole) gplot sweep -x N -y 'entries=ours_entries,pages=ours_pages' --log none --x-label 'array (bytes)' \
		--y-label 'missed in the L2 TLB' $< $(done)
