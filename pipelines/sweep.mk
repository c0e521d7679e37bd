# SPDX-License-Identifier: MIT
# Runs every point of a sweep and writes the results into one CSV.
#
#     make -f pipelines/sweep.mk SWEEP=my.sweep [ENGINE=make|parallel|slurm] [JOBS=N]
#     make -f pipelines/sweep.mk SWEEP=my.sweep sweep-size     how many points and runs that would be; runs nothing
#
# sweep.md describes sweep files and the requirements of the engines.

# make parts names at spaces.
$(if $(word 2,$(CURDIR))$(filter-out $(wildcard $(MAKEFILE_LIST)),$(MAKEFILE_LIST)),$(error make takes no folder with a space in its name: expected \
	another for '$(CURDIR)' and for '$(strip $(MAKEFILE_LIST))'))
SWEEP   ?=
ENGINE  ?= make
JOBS    ?= $(shell nproc)
HOSTS   ?= :
SSH     ?= ssh
SBATCH  ?=
RESULTS ?= results/sweeps
CSV     ?= $(RESULTS)/$(sweep_name).csv

sweep_name  = $(basename $(notdir $(firstword $(SWEEP))))
sweep_here := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))sweep
export PATH := $(PATH):$(abspath $(sweep_here)/../../bin)
SHELL := bash
.SHELLFLAGS := -e -u -o pipefail -c

# The results of points and what they share; RESULTS itself has the tables.
results := $(abspath $(RESULTS))/parts
# Of this make alone: several may run a sweep in one folder.
plan    := $(results)/plan-$(sweep_name).$(shell echo "$${HOSTNAME:-host}.$$PPID")
run     := $(sweep_here)/run $(results) $(plan)
comma   := ,
# Says a result on standard output. A reader that has gone is no error; a full disk is one.
say      = env echo "$(1)" || [ $$? = 141 ]
# As many jobs as the calling make's -j; without it, JOBS.
jobs     = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j $(JOBS))

# An engine runs the levels of a plan one after the other, and the jobs of a level in parallel, each once.
define engine_make
awk -F '\t' -v results=$(results) 'FILENAME ~ /level-/ { todo[$$1] = 1; list = list " " $$1; next } \
	$$1 in todo { print $$1 ":" ($$2 in todo ? " " $$2 : "") "\n\t@$(run) " $$1 } END { print ".PHONY: all" list "\nall:" list }' \
	$$levels $(plan)/jobs >$(plan)/rules.mk; \
$(MAKE) --no-print-directory -k $(jobs) -f $(plan)/rules.mk all
endef
define engine_parallel
for level in $$levels; do \
	parallel --will-cite --ssh '$(SSH)' --sshlogin '$(HOSTS)' --workdir $(CURDIR) --jobs $(JOBS) \
		env PATH="'$$PATH'" $(run) :::: $$level; \
done
endef
# An array may have at most MaxArraySize tasks, by Slurm's default 1001.
define engine_slurm
for level in $$levels; do \
	n=$$(wc -l <$$level); \
	for ((offset = 0; offset < n; offset += 1000)); do \
		tasks=$$((n - offset < 1000 ? n - offset : 1000)); \
		sbatch --quiet --wait --job-name=gtrace-sweep --chdir=$(CURDIR) --output=/dev/null \
			--array=1-$$tasks%$(JOBS) $(SBATCH) $(run) $${level##*-} $$offset; \
	done; \
done
endef

define make_plan
	$(if $(strip $(SWEEP)),,$(error SWEEP is not set. Usage: make -f pipelines/sweep.mk SWEEP=file [ENGINE=make|parallel|slurm]))
	$(if $(filter make parallel slurm,$(ENGINE)),,$(error ENGINE=$(ENGINE): expected make, parallel or slurm))
	@$(sweep_here)/plan $(results) $(plan) $(SWEEP)
endef

.PHONY: sweep sweep-size sweep-clean
sweep:
	$(make_plan)
	@levels=$$(find $(plan) -name 'level-*' | sort -V); \
	$(sweep_here)/progress $(plan) & \
	trap "kill $$! 2>/dev/null || :; wait $$! || :" EXIT; \
	if [ -n "$$levels" ]; then $(engine_$(ENGINE)); fi
	@$(sweep_here)/collect $(results) $(plan) >$(CSV).$$$$ || status=$$?; \
	mv $(CSV).$$$$ $(CSV); rm -rf $(plan); $(call say,$(CSV)) || exit; exit $${status:-0}

sweep-size:
	$(make_plan)
	@trap 'rm -rf $(plan); rmdir $(results) $(RESULTS) 2>/dev/null || :' EXIT; \
	levels=$$(find $(plan) -name 'level-*'); \
	$(call say,$$(wc -l <$(plan)/points) points of $$(wc -l <$(plan)/jobs) runs$(comma) $$(cat /dev/null $$levels | wc -l) of them to make)

# Deletes the parts of all sweeps; the tables stay. Nothing else does, so old parts can be found again.
sweep-clean:
	rm -rf $(results)
