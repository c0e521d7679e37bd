# SPDX-License-Identifier: MIT
# make                everything, into bin/, in as many jobs as there are processors
# make model          the stages of the model and their library, without what runs CUDA: lib/ but for lib/cuda
# make plugins        the stand-ins of cuBLAS, cuBLASLt, cuFFT and cuRAND, which gtrace-record gives a program with --stub: in all unless
#                     PLUGINS=no; those of cuBLAS want a CBLAS, that of cuFFT FFTW3
# make deps           installs what building and testing need (see ./deps); deps-long for check-long
# make demo           what an example kernel costs
# make check          the tests; check-sanitize, check-undefined, check-valgrind and check-long are the slow ones
# make validate       the model against hardware's counters
# make hardware-table its table of errors into docs/hardware.md
# make bench          rows a second, stage by stage; bench-long: time and memory up to 10^9 rows; bench-options: what each option costs;
#                     bench-table, bench-programs: the tables of docs/speed.md
# make dist           a tarball of what is committed, named after the tag
# make wheel          a wheel for Python, in build/wheel: the module, and the programs that it runs
# make deb            Debian packages, in build-deb (wants debhelper and lintian)
# make install        PREFIX=/usr/local DESTDIR=, and each folder below by its name; install-plugins alone; and uninstall
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell getconf _NPROCESSORS_ONLN)
endif
VERSION := 0.1.0
PREFIX  ?= /usr/local
bindir  ?= $(PREFIX)/bin
libdir  ?= $(PREFIX)/lib
includedir ?= $(PREFIX)/include
datadir ?= $(PREFIX)/share
mandir  ?= $(datadir)/man
docdir  ?= $(datadir)/doc/gtrace
pythondir ?= $(datadir)/gtrace/python
bashdir ?= $(datadir)/bash-completion/completions
zshdir  ?= $(datadir)/zsh/site-functions
fishdir ?= $(datadir)/fish/vendor_completions.d
BUILD   ?= build
BIN     ?= bin
# One spelling of each folder, since dependencies recorded under one would not apply to the other.
override BUILD := $(BUILD:$(CURDIR)/%=%)
override BIN := $(BIN:$(CURDIR)/%=%)
CFLAGS  ?= -O2
# Loops over rows and lanes are compiled with -O3 whatever CFLAGS say, except in builds to debug (-O0, -O1, -Og). With -O2, gcoalesce executes 5
# times the instructions, gschedule 2.5, a cache level 1.5 to 1.8, grd 1.4, and gtrace-order of a stream 2.8.
LOOPS    = $(if $(filter -O0 -O1 -Og,$(CFLAGS)),,-O3)
GPU     ?= titanv
DEMO     = transpose<<<(16,64),(32,8)>>>(in=f32[512*512]:ramp, out=f32[512*512], 512, 512)
# WERROR=-Werror: a warning is an error, as in .ci/run.
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wconversion $(WERROR)
# $(call once,NAME,COMMAND): what a command prints, which runs when it is first needed and not again. pkg-config runs when something is
# compiled, not before, since make deps may have to install it.
once     = $(eval $(1) := $(shell $(2)))$($(1))
MSGPACK  = $(call once,MSGPACK,pkg-config --exists msgpack-c && echo msgpack-c || echo msgpack)
PKGS     = $(MSGPACK) libpcre2-8 libxxhash liblz4 libzstd
PKG_FLAGS = $(call once,PKG_FLAGS,pkg-config --cflags $(PKGS))
PKG_LIBS = $(call once,PKG_LIBS,pkg-config --libs $(PKGS))
DEFINES  = -D_POSIX_C_SOURCE=200809L -DPCRE2_CODE_UNIT_WIDTH=8
# Compiled into lib/base/installed.o only.
BAKED    = -DGT_VERSION='"$(VERSION)"' -DGT_DATADIR='"$(datadir)/gtrace"' -DGT_LIBDIR='"$(libdir)/gtrace"'
# Position-independent and hidden, for the copy of the library in the stand-in CUDA runtime.
# HARDEN= builds without; sanitizers have checks of their own.
HARDEN   = $(if $(SANITIZE),,-D_FORTIFY_SOURCE=2 -fstack-protector-strong)
RELRO    = -Wl,-z,relro,-z,now
COMPILE  = $(CC) $(CPPFLAGS) -std=c11 $(WARN) -fPIC -fvisibility=hidden $(HARDEN) $(CFLAGS) $(OPTIMIZE) $(SANITIZE) -Ilib $(DEFINES) $(PKG_FLAGS)
# libgtrace-ptx.a uses libgtrace.a, so it is linked before it, in whatever order a rule names them.
LINK     = $(CC) $(CFLAGS) $(SANITIZE) $(RELRO) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %/libgtrace-ptx.a,$^) $(filter %/libgtrace.a,$^) $(PKG_LIBS) -lm -pthread $(LDLIBS)

# Two houses: the model, and what runs CUDA programs, which is in lib/cuda and uses the model's base, gpu and stream.
MODEL   := $(patsubst %.c,$(BUILD)/%.o,$(sort $(shell find lib -name '*.c' ! -path 'lib/cuda/*')))
PTX     := $(patsubst %.c,$(BUILD)/%.o,$(sort $(shell find lib/cuda/ptx -name '*.c')))
RUNTIME := $(patsubst %.c,$(BUILD)/%.o,$(sort $(shell find lib/cuda/runtime lib/cuda/driver -name '*.c')))
# $(call plugin,NAME): the objects of the stand-in of a library.
plugin   = $(patsubst %.c,$(BUILD)/%.o,$(wildcard lib/cuda/plugins/$(1)/*.c))
TOOLS   := $(patsubst tools/%.c,$(BIN)/%,$(wildcard tools/*.c))
CUDA_TOOLS := $(BIN)/gtrace-ptx $(BIN)/gtrace-record
COMMON  := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tools/common/*.c))
UNITS   := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/*.c))
TARGETS := $(patsubst tests/fuzz/targets/%.c,%,$(wildcard tests/fuzz/targets/*.c))
REPLAYS := $(addprefix $(BUILD)/tests/fuzz/replay/,$(TARGETS))
FAULTS  := $(patsubst %.c,$(BUILD)/%.so,$(wildcard tests/faults/*.c))
# The streams that gtrace-order makes of the example traces, which a hundred tests begin with.
ORDERED := $(patsubst examples/traces/%.rdgc.xz,$(BUILD)/tests/ordered/%.gt,$(wildcard examples/traces/*.rdgc.xz))
BENCHES := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/bench/*.c tests/fuzz/*.c))
# The number of the library's interface, which counts by itself: it rises when programs must be linked anew.
ABI     := 0
SONAME  := libgtrace.so.$(ABI)
SHARED  := $(BUILD)/libgtrace.so.$(VERSION)
# The stand-in for CUDA is one library; it is found by its other names through libraries that hold nothing but a name.
CUDART  := $(BUILD)/cudart/libcudart.so.13
NAMES   := $(addprefix $(BUILD)/cudart/,$(addprefix libcudart.so.,10.1 10.2 11.0 12) libcuda.so.1 libcuda.so)
# Plug-ins: a folder each, apart from the runtime, so that they are found only if they are asked for. PLUGINS=no: none. Those that need a
# library are left out without it: CBLAS and FFTW are the names that pkg-config has for them, of the first that links.
CBLAS    = $(call once,CBLAS,for p in blas cblas openblas; do \
		echo 'int main(void) { return !cblas_dgemm; }' | $(CC) -include cblas.h $$(pkg-config --cflags $$p 2>&1) -x c - -o /dev/null \
		$$(pkg-config --libs $$p 2>&1) 2>/dev/null && echo $$p && break; done)
FFTW     = $(call once,FFTW,pkg-config --exists fftw3 fftw3f && echo fftw3 fftw3f)
BLAS_STUBS := $(addprefix $(BUILD)/cudart/stub/cublas/,libcublas.so.13 libcublasLt.so.13)
FFT_STUBS  := $(BUILD)/cudart/stub/cufft/libcufft.so.12
RAND_STUBS := $(BUILD)/cudart/stub/curand/libcurand.so.10
STUBS    = $(RAND_STUBS) $(if $(CBLAS),$(BLAS_STUBS)) $(if $(FFTW),$(FFT_STUBS))
# What gtrace-cat --schema says, for the Python module.
SCHEMA  := python/gtrace_schema.json

all: model $(CUDA_TOOLS) $(CUDART) $(NAMES) $(if $(filter no,$(PLUGINS)),,plugins)
# A make of its own, which looks for the libraries when make deps may have installed them.
plugins: $(CUDART) $(NAMES)
	@$(MAKE) --no-print-directory stubs
	@$(if $(CBLAS),,echo 'plugins: no CBLAS (libblas-dev or libopenblas-dev): gtrace-record will refuse --stub cublas')
	@$(if $(FFTW),,echo 'plugins: no FFTW3 for doubles and floats (libfftw3-dev): gtrace-record will refuse --stub cufft')
ifneq ($(filter stubs,$(MAKECMDGOALS)),)
stubs: $(STUBS)
endif
model: $(filter-out $(CUDA_TOOLS),$(TOOLS)) $(BUILD)/libgtrace.a $(SHARED) $(SCHEMA)
units: $(UNITS) $(FAULTS) $(ORDERED)

# If "deps" is among the goals, nothing is compiled before it is done, whatever the number of jobs.
$(BUILD)/%.o: %.c | $(filter deps,$(MAKECMDGOALS))
	@mkdir -p $(@D)
	$(COMPILE) -MMD -MP -c -o $@ $<
$(COMMON): DEFINES += -Itools
# So that a call is found in the stack by its name: runtime.c names the one in which a program faults.
$(RUNTIME): OPTIMIZE += -fno-optimize-sibling-calls
$(addsuffix /%.o,$(addprefix $(BUILD)/lib/,stream import order coalesce schedule cache replace dram reuse cuda/ptx/exec)): OPTIMIZE = $(LOOPS)
# Lane operations in C run only where machine code does not, and -O3 would take half as long again to compile them.
$(BUILD)/lib/cuda/ptx/exec/ops_%.o: OPTIMIZE =
$(BUILD)/lib/base/installed.o: DEFINES += $(BAKED)
$(BUILD)/lib/base/installed.o: $(BUILD)/baked
# Written only when their content changes, so that nothing else is rebuilt.
$(BUILD)/baked: TEXT = $(BAKED)
$(BUILD)/soname: TEXT = $(SONAME)
$(BUILD)/baked $(BUILD)/soname: always
	@mkdir -p $(@D)
	@echo "$(TEXT)" | cmp -s - $@ || echo "$(TEXT)" >$@
$(BUILD)/libgtrace.a: $(MODEL)
$(BUILD)/libgtrace-ptx.a: $(PTX)
$(BUILD)/libgtrace.a $(BUILD)/libgtrace-ptx.a:
	@rm -f $@
	$(AR) rcs $@ $^
$(SHARED): $(MODEL) $(BUILD)/soname
	$(LINK) -shared -Wl,-soname,$(SONAME)
$(CUDA_TOOLS): $(BUILD)/libgtrace-ptx.a
$(BIN)/%: $(BUILD)/tools/%.o $(COMMON) $(BUILD)/libgtrace.a
	@mkdir -p $(@D)
	$(LINK) -pie
$(SCHEMA): $(BIN)/gtrace-cat
	$< --schema >$@.new
	mv $@.new $@
$(CUDART): $(RUNTIME) $(BUILD)/libgtrace-ptx.a $(BUILD)/libgtrace.a lib/cuda/runtime/libcudart.map
	@mkdir -p $(@D)
	$(LINK) -lpthread -ldl -shared -Wl,-soname,$(@F),--version-script,$(filter %.map,$^),--defsym=_exit=gt_cudart_exit,--defsym=_Exit=gt_cudart_exit
# A program that was linked with libcudart.so.12 looks for a version of that name in it.
$(NAMES): $(CUDART) lib/cuda/runtime/older/forward.S
	echo '$(@F) { };' >$@.map
	nm -D $(CUDART) | sed -n 's/.* \([^ ]*\)@$(@F)$$/FORWARD(\1)/p' >$@.names
	$(CC) $(CFLAGS) $(RELRO) $(LDFLAGS) -shared -o $@ -DNAMES='"$@.names"' -I. -DIN=gt_in_$(subst .,_,$(patsubst libcudart.so.%,%,$(@F)))_ \
		lib/cuda/runtime/older/forward.S -Wl,--no-as-needed,-soname,$(@F),--version-script,$@.map,-rpath,'$$ORIGIN' $(CUDART)
$(call plugin,cublas) $(call plugin,cublaslt): DEFINES += $(if $(CBLAS),$(call once,CBLAS_FLAGS,pkg-config --cflags $(CBLAS)))
$(call plugin,cufft): DEFINES += $(if $(FFTW),$(call once,FFTW_FLAGS,pkg-config --cflags $(FFTW)))
$(BLAS_STUBS): NEEDS = $(shell pkg-config --libs $(CBLAS))
$(FFT_STUBS): NEEDS = $(shell pkg-config --libs $(FFTW))
$(BUILD)/cudart/stub/cublas/libcublas.so.13: $(call plugin,cublas) lib/cuda/plugins/cublas/libcublas.map
$(BUILD)/cudart/stub/cublas/libcublasLt.so.13: $(call plugin,cublaslt) $(filter %/shared.o,$(call plugin,cublas)) lib/cuda/plugins/cublaslt/libcublasLt.map
$(RAND_STUBS): $(call plugin,curand) lib/cuda/plugins/curand/libcurand.map
$(FFT_STUBS): $(call plugin,cufft) lib/cuda/plugins/cufft/libcufft.map
# The objects come before the library that they need.
$(BLAS_STUBS) $(FFT_STUBS) $(RAND_STUBS): $(BUILD)/libgtrace-ptx.a $(BUILD)/libgtrace.a $(CUDART)
	@mkdir -p $(@D)
	$(LINK) $(CUDART) $(NEEDS) -shared -Wl,-soname,$(@F),--version-script,$(filter %.map,$^)
$(BUILD)/tests/%: $(BUILD)/tests/%.o $(BUILD)/libgtrace-ptx.a $(BUILD)/libgtrace.a
	$(LINK)
# A target of the fuzzer, called with the files of its corpus, or by libFuzzer.
$(BUILD)/tests/fuzz/replay/%: $(BUILD)/tests/fuzz/targets/%.o $(BUILD)/tests/fuzz/shared/target.o $(BUILD)/tests/fuzz/shared/replay.o $(BUILD)/libgtrace-ptx.a $(BUILD)/libgtrace.a
	@mkdir -p $(@D)
	$(LINK)
$(BUILD)/tests/fuzz/fuzzer/%: $(BUILD)/tests/fuzz/targets/%.o $(BUILD)/tests/fuzz/shared/target.o $(BUILD)/libgtrace-ptx.a $(BUILD)/libgtrace.a
	@mkdir -p $(@D)
	$(LINK) -fsanitize=fuzzer
$(BUILD)/tests/faults/%.so: tests/faults/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -std=c11 $(WARN) -fPIC -O1 -g $(DEFINES) -shared -o $@ $<
$(BUILD)/tests/ordered/%.gt: examples/traces/%.rdgc.xz $(BIN)/gtrace-order
	@mkdir -p $(@D)
	$(BIN)/gtrace-order $< >$@.new
	mv $@.new $@
-include $(shell find $(BUILD) -path $(BUILD)/compare -prune -o -name '*.d' -print 2>/dev/null)

deps:
	./deps
deps-long: deps
	./deps --long
demo: all
	$(BIN)/gtrace-ptx --gpu $(GPU) --launch '$(DEMO)' examples/kernels/ptx/transpose.ptx >$(BUILD)/demo.gt
	$(BIN)/gtrace run $(BUILD)/demo.gt
# Folders set on this make's command line, for the makes that tests run.
FOLDERS  = $(foreach v,PREFIX libdir datadir,$(if $(filter command environment,$(firstword $(origin $v))),$v='$($v)'))
# AWK=gawk SH=dash: the programs that tests use as awk and sh; TESTS=tests/gcache.bats: only these tests.
check: all $(UNITS) $(BENCHES) $(REPLAYS) $(FAULTS) $(ORDERED)
	$(FOLDERS) tests/run --bin $(BIN) --build $(BUILD) $(addprefix --awk ,$(AWK)) $(addprefix --sh ,$(SH)) $(WHOLE) $(TESTS)
# The same, with the tests tagged `whole`, and all cases of those that try a few of many.
check-whole:
	$(MAKE) check WHOLE=--whole
# The tests of everything that runs awk or sh, with each awk and each sh.
check-awk: all $(UNITS) $(BENCHES) $(REPLAYS) $(FAULTS) $(ORDERED)
	for pair in mawk:dash gawk:bash original-awk:dash; do \
		$(FOLDERS) tests/run --bin $(BIN) --build $(BUILD) --awk $${pair%:*} --sh $${pair#*:} \
			$$(grep -lE 'awk|[^a-z]sh |run_man_examples' tests/*.bats) || exit 1; \
	done
# A stream may claim an array of 2^32 elements; malloc must then return NULL instead of aborting.
check-sanitize:
	ASAN_OPTIONS=allocator_may_return_null=1 $(MAKE) check BUILD=build-sanitize BIN=bin-sanitize CFLAGS='-O1 -g' \
		SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all'
# What only clang sees, such as NULL + 0: a trap where it happens, so that programs under gtrace-record need no other library.
check-undefined:
	$(MAKE) check CC=clang BUILD=build-undefined BIN=bin-undefined CFLAGS='-O1 -g' \
		SANITIZE='-fsanitize=undefined,nullability -fsanitize-trap=all'
check-valgrind: all
	tests/valgrind $(BIN)
check-long: check-whole check-awk check-sanitize check-undefined check-valgrind
	$(FOLDERS) tests/run --bin $(BIN) --build $(BUILD) --jobs 1 tests/long/*.bats
# SECONDS=60: for each target; TARGET=ptx: these only. Corpora grow in build-fuzz/corpus; what crashes stays in
# build-fuzz. MERGE=1: takes what is new in coverage over into tests/fuzz/corpus, and nothing else.
fuzz:
	$(MAKE) CC=clang BUILD=build-fuzz CFLAGS='-O1 -g -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION' \
		SANITIZE='-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all' fuzzers
	tests/fuzz/run build-fuzz $(if $(MERGE),--merge,$(or $(SECONDS),60)) $(or $(TARGET),$(TARGETS))
fuzzers: $(addprefix $(BUILD)/tests/fuzz/fuzzer/,$(or $(TARGET),$(TARGETS)))
# clang's analyzer; tests/analyze.exceptions has the warnings that are no errors, and why.
analyze:
	tests/analyze
# REFERENCE=my.csv replaces the tables of tests/reference; for ABLATION=1, ALL=1, ON=GPU see its README.md.
validate: all
	tests/validate --bin $(BIN) --build $(BUILD) $(if $(ABLATION),--ablation) $(if $(ALL),--all) $(addprefix --gpu ,$(ON)) $(REFERENCE)
	$(if $(REFERENCE)$(ON),,if command -v gnuplot >/dev/null; then tests/pictures --bin $(BIN) --build $(BUILD) $(BUILD)/pictures; fi)
hardware-table: all
	tests/validate --bin $(BIN) --build $(BUILD) --page docs/hardware.md >/dev/null
# COMPARE=COMMIT: ratios of processor time to a build of that commit; LIBCACHESIM=path of its cachesim, and to that.
bench: all $(BENCHES)
	$(if $(COMPARE),tests/bench/compare $(COMPARE),tests/bench/run) $(BIN) $(BUILD)
# The table of docs/speed.md: about six minutes on two idle cores.
bench-table: all $(BENCHES)
	bash -o pipefail -c "tests/bench/compare $(or $(COMPARE),f70a902) '$(BIN)' '$(BUILD)' | sed '/ -$$/d; s/^/    /'"
# Each stage on the accesses of programs, which nvcc or clang makes: about three minutes.
bench-programs: all
	bash -o pipefail -c "tests/bench/programs '$(BIN)' '$(BUILD)' | sed 's/^/    /'"
# COMMIT=...: whether the output of some hundred command lines is that commit's, byte for byte.
same: all
	tests/same $(COMMIT) $(BIN) $(BUILD)
# Each value of each option, and PAIRS=200 random pairs: processor time as a ratio to the default's. STAGE="gcache --l1": this one.
bench-options: all
	tests/bench/options $(BIN) $(BUILD) $(addprefix --pairs ,$(PAIRS)) $(if $(STAGE),--stage "$(STAGE)")
bench-long: all $(BENCHES)
	tests/bench/long $(BIN) $(BUILD)

# The public headers: gtrace.h and what it includes.
HEADERS  = $(filter lib/%.h,$(shell $(CC) -Ilib -MM lib/gtrace.h))
FILTERS := $(wildcard examples/*.c examples/*.py examples/*.awk examples/README.md)
MAN     := $(wildcard man/*.[1357])
# What a user runs or reads beside the programs; the layout is that of the repository.
SHARED_FILES = $(shell find pipelines examples -type f ! -path '*/results/*')
# $(call copy_tree,FROM,FILES,TO): the files of a folder, with the folders that they are in, by one process; anyone may read them.
copy_tree = cd $1 && cp --parents $(sort $2) $(abspath $3) && chmod -R u+w,go-w,a+rX $(abspath $3)
# A list of make ends a name at a blank: uninstall would remove what stands before it.
ifneq ($(filter install install-plugins uninstall,$(MAKECMDGOALS)),)
$(foreach v,DESTDIR PREFIX bindir libdir includedir datadir mandir docdir pythondir bashdir zshdir fishdir,\
	$(if $(word 2,$($v)),$(error $v='$($v)': expected a folder without blanks)))
endif
install: all $(if $(filter no,$(PLUGINS)),,install-plugins)
	install -d $(addprefix $(DESTDIR),$(bindir) $(libdir)/pkgconfig $(libdir)/gtrace $(includedir)/gtrace $(datadir)/gtrace/gpus \
		$(addprefix $(mandir)/man,1 3 5 7) $(docdir)/examples $(docdir)/docs/papers $(pythondir))
	install $(TOOLS) $(DESTDIR)$(bindir)
	install -m 644 gpus/* $(DESTDIR)$(datadir)/gtrace/gpus
	$(foreach section,1 3 5 7,install -m 644 $(filter %.$(section),$(MAN)) $(DESTDIR)$(mandir)/man$(section) &&) true
	install -m 644 README.md LICENSE $(DESTDIR)$(docdir)
	install -m 644 $(wildcard docs/*.*) $(DESTDIR)$(docdir)/docs
	install -m 644 docs/papers/* $(DESTDIR)$(docdir)/docs/papers
	install -m 644 python/gtrace.py $(SCHEMA) $(DESTDIR)$(pythondir)
	completions/generate $(addprefix $(DESTDIR),$(bashdir) $(zshdir) $(fishdir)) gpus $(TOOLS)
	install -m 644 $(FILTERS) $(DESTDIR)$(docdir)/examples
	$(call copy_tree,.,$(SHARED_FILES),$(DESTDIR)$(datadir)/gtrace)
	install -m 644 $(BUILD)/libgtrace.a $(DESTDIR)$(libdir)
	install -m 644 $(SHARED) $(DESTDIR)$(libdir)
	ln -sf $(notdir $(SHARED)) $(DESTDIR)$(libdir)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(libdir)/libgtrace.so
	install $(CUDART) $(NAMES) $(DESTDIR)$(libdir)/gtrace
	$(call copy_tree,lib,$(HEADERS:lib/%=%),$(DESTDIR)$(includedir)/gtrace)
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(libdir:$(PREFIX)/%=$${prefix}/%)|' -e 's|@VERSION@|$(VERSION)|' \
		-e 's|@INCLUDEDIR@|$(includedir:$(PREFIX)/%=$${prefix}/%)|' -e "s|@PKGS@|$(PKGS)|" lib/gtrace.pc.in \
		>$(DESTDIR)$(libdir)/pkgconfig/gtrace.pc
install-plugins: all $(if $(filter no,$(PLUGINS)),plugins)
	install -d $(DESTDIR)$(libdir)/gtrace
	$(if $(strip $(STUBS)),$(call copy_tree,$(BUILD)/cudart,$(STUBS:$(BUILD)/cudart/%=%),$(DESTDIR)$(libdir)/gtrace))
uninstall:
	rm -f $(addprefix $(DESTDIR)$(bindir)/,$(notdir $(TOOLS))) $(addprefix $(DESTDIR)$(libdir)/,libgtrace.a libgtrace.so $(SONAME) $(notdir $(SHARED)) pkgconfig/gtrace.pc) \
		$(foreach page,$(MAN),$(DESTDIR)$(mandir)/man$(patsubst .%,%,$(suffix $(page)))/$(notdir $(page)))
	rm -f $(addprefix $(DESTDIR),$(pythondir)/gtrace.py $(pythondir)/$(notdir $(SCHEMA)) $(foreach tool,$(notdir $(TOOLS)),$(bashdir)/$(tool) $(zshdir)/_$(tool) $(fishdir)/$(tool).fish))
	rm -rf $(addprefix $(DESTDIR),$(libdir)/gtrace $(includedir)/gtrace $(datadir)/gtrace $(docdir))
# At a tag vX.Y.Z the version is X.Y.Z, which must be the one above; behind it, or without one, it says how far.
TAG      = $(shell git describe --tags --match 'v[0-9]*' 2>/dev/null)
DIST     = gtrace-$(if $(TAG),$(TAG:v%=%),$(VERSION)-$(shell git rev-list --count HEAD)-g$(shell git rev-parse --short=7 HEAD))
dist:
	$(if $(filter-out v$(VERSION) v$(VERSION)-%,$(TAG)),$(error the tag is $(TAG), and VERSION is $(VERSION)))
	git archive --prefix=$(DIST)/ HEAD | XZ_OPT=$${XZ_OPT--9} xz >$(DIST).tar.xz
	@echo $(DIST).tar.xz
# The programs find what they need beside their folder, wherever a wheel puts them.
wheel: all
	rm -rf $(BUILD)/wheel
	@$(MAKE) --no-print-directory -s -o all -o plugins install DESTDIR=$(abspath $(BUILD))/wheel/installed PREFIX= libdir=/lib
	python/make_wheel $(BUILD)/wheel/installed $(VERSION) $(BUILD)/wheel
	rm -rf $(BUILD)/wheel/installed
# From what is committed, in a folder of its own, since dpkg-buildpackage writes beside it.
deb:
	@dpkg-checkbuilddeps debian/control && command -v lintian >/dev/null || { echo 'make deb needs what is named above, debhelper and lintian: apt-get install them' >&2; exit 1; }
	rm -rf build-deb
	mkdir -p build-deb/gtrace-$(VERSION)
	git archive HEAD | tar -xC build-deb/gtrace-$(VERSION)
	cd build-deb/gtrace-$(VERSION) && dpkg-buildpackage -us -uc -b
	lintian --fail-on error,warning build-deb/*.changes
clean:
	rm -rf $(BUILD) $(BIN) build-sanitize bin-sanitize build-undefined bin-undefined build-fuzz build-thread build-deb $(SCHEMA)

.SECONDARY:
.PHONY: all model plugins stubs install-plugins units always deps deps-long demo check check-awk check-sanitize check-undefined check-valgrind check-whole check-long fuzz fuzzers analyze validate hardware-table bench bench-long bench-options bench-programs bench-table same install uninstall dist wheel deb clean
