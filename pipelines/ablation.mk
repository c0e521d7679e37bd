# SPDX-License-Identifier: MIT
# The contribution of each part of a model: the miss classes of [002] 6.1, and the improvements of [004] table 5, each
# left out in turn.
paper := ablation
GPU   ?= titanv
SEEDS ?= 5
paper_options = $(GPU) $(SEEDS)
include $(dir $(lastword $(MAKEFILE_LIST)))paper.mk

tables   := $(addprefix $(out)/,classes.tsv improvements.tsv)
pictures := $(addprefix $(out)/,classes.svg improvements.svg)
$(paper): $(tables) $(pictures)
include $(paper_here)classes.mk $(paper_here)improvements.mk
