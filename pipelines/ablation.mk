# SPDX-License-Identifier: MIT
# What each part of a model contributes: the misses of [002] 6.1, class by class, and the improvements of
# [004] table 5, each left out.
paper := ablation
GPU   ?= titanv
SEEDS ?= 5
paper_options = $(GPU) $(SEEDS)
include $(dir $(abspath $(lastword $(MAKEFILE_LIST))))paper.mk

tables   := $(addprefix $(out)/,classes.tsv improvements.tsv)
pictures := $(addprefix $(out)/,classes.svg improvements.svg)
$(paper): $(tables) $(pictures)
include $(paper_here)classes.mk $(paper_here)improvements.mk
