# SPDX-License-Identifier: MIT
# The static analysis of [003]: how well the accesses of a kernel coalesce, from its PTX alone, with the graphs of figures
# 9 and 10. For a list of kernels: the degree against the L1's hit ratio (figure 7), and the expected sectors against those
# of a trace (figure 8); and table 3. The GPU is the paper's A30.
#     make -C pipelines kim PTX=examples/kernels/ptx/gemm.ptx LAUNCH='gemm<<<(2,8),(32,8)>>>(...)'
paper  := kim
GPU    ?= a30
here   := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))
ifeq ($(strip $(PTX)),)
PTX    := $(here)../examples/kernels/ptx/conv2d.ptx
LAUNCH := conv2d<<<(2,8),(32,8)>>>(in=f32[66*66], out=f32[66*66], 66, 66)
endif
LIST   ?= $(here)kim.kernels
static  = gtrace-ptx --static $(if $(LAUNCH),--launch $(call pipe_quote,$(LAUNCH))) $(PTX)
SOURCE  = $(static)
paper_options = $(GPU) $(LIST)
include $(dir $(lastword $(MAKEFILE_LIST)))paper.mk

tables   := $(addprefix $(out)/,static.tsv graph.txt kernels.tsv table3.tsv)
pictures := $(addprefix $(out)/,graph.svg degree-hits.svg sectors.svg)
$(paper): $(tables) $(pictures)

$(out)/static.tsv:
	@$(whole) $(static) $(done)
$(out)/graph.txt:
	@$(whole) $(static) --tree $(done)
$(out)/graph.svg: $(out)/graph.txt
	@$(whole) gplot coalescing $< $(done)
$(out)/kernels.tsv: $(LIST)
	@$(whole) $(paper_here)kim-kernels $(LIST) $(GPU) $(done)
$(out)/table3.tsv: $(paper_here)kim.table3
	@$(whole) $(paper_here)kim-table3 $< $(done)
$(out)/degree-hits.svg: $(out)/kernels.tsv
	@$(whole) gplot scatter -x degree -y l1_hit_rate --by kernel --x-label 'degree of coalescing (%)' \
		--y-label 'L1 sectors that hit (%)' $< $(done)
$(out)/sectors.svg: $(out)/kernels.tsv
	@$(whole) gplot bars -x kernel -y expected,traced --y-label 'sectors a load' $< $(done)
