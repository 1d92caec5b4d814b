# make            builds the programs        make test      proves them
# make probe      measures everything        make bench     prints the ratios promised
# make vmtest     proves them on another kernel, with eight CPUs
# make crosstest  builds for aarch64 and proves that under qemu-user
# make V=1        shows the commands         make SAN=address|undefined|thread  in its own folder
VERSION = 0.1.0
PROGRAMS = syscall-rate fib-compare file-rate message-rate
PREFIX ?= /usr/local
BINDIR = $(DESTDIR)$(PREFIX)/bin
MANDIR = $(DESTDIR)$(PREFIX)/share/man/man1
COMPDIR = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
COMPLETIONS = syscall/syscall-rate.bash fib/fib-compare.bash file/file-rate.bash message/message-rate.bash
PAGES = syscall/syscall-rate.1 fib/fib-compare.1 file/file-rate.1 message/message-rate.1
CC = gcc
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /sbin/bpftool /usr/bin/bpftool) bpftool)
SAN ?=
BUILD = build/$(or $(SAN),plain)
Q = $(if $(V),,@)
CFLAGS ?= -O2 -g
WARN = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
SANFLAGS = $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer)
ALLFLAGS = -std=gnu11 -D_GNU_SOURCE $(CFLAGS) $(WARN) $(SANFLAGS) -pthread -I. -I$(BUILD) -MMD -MP
LIBS = -lbpf -lhwloc -lseccomp -ljansson -lm
FIB_LIBS = -lhwloc -ljansson -lcapstone -lm
RING_LIBS = $(LIBS) -luring
SYSROOT = $(shell $(CC) -print-sysroot)
BPF_ARCH = $(if $(filter aarch64%,$(shell $(CC) -dumpmachine)),arm64,x86)
MULTIARCH = $(shell $(CC) -print-multiarch)

COMMON = $(patsubst %.c,$(BUILD)/%.o,$(wildcard common/*.c))
PROBES = $(patsubst %.c,$(BUILD)/%.o,$(filter-out %.bpf.c,$(wildcard probes/*.c)))
FIB = $(patsubst %.c,$(BUILD)/%.o,$(filter-out fib/baseline.c,$(wildcard fib/*.c))) $(BASELINES)
BASELINES = $(foreach v,O0 O2 O2_same,$(BUILD)/fib/baseline-$(v).o $(BUILD)/fib/baseline-$(v)-counted.o)
# The part of fib/ that runs programs: syscall-rate's --driver uses it.
MACHINE = $(patsubst %,$(BUILD)/fib/%.o,assemble code-memory disassemble emit-aarch64 emit-x86_64 gdb interp jit \
	load machine program verify vm)
SYSCALL = $(patsubst %.c,$(BUILD)/%.o,$(wildcard syscall/*.c)) $(MACHINE)
FILE = $(patsubst %.c,$(BUILD)/%.o,$(wildcard file/*.c))
MESSAGE = $(patsubst %.c,$(BUILD)/%.o,$(wildcard message/*.c))
SKELETONS = $(patsubst probes/%.bpf.c,$(BUILD)/%.skel.h,$(wildcard probes/*.bpf.c))
UNITS = $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/unit-*.c))

all: $(if $(filter build/plain,$(BUILD)),$(PROGRAMS),$(addprefix $(BUILD)/,$(PROGRAMS)))

$(PROGRAMS): %: $(BUILD)/%
	$(Q)cp $< $@

$(BUILD)/syscall-rate: $(SYSCALL) $(PROBES) $(COMMON)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -pthread $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/fib-compare: $(FIB) $(COMMON)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -pthread $(LDFLAGS) -o $@ $^ $(FIB_LIBS)

$(BUILD)/file-rate: $(FILE) $(PROBES) $(COMMON)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -pthread $(LDFLAGS) -o $@ $^ $(RING_LIBS)

$(BUILD)/message-rate: $(MESSAGE) $(PROBES) $(COMMON)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -pthread $(LDFLAGS) -o $@ $^ $(RING_LIBS)

# The C rows: one source, the flags that the table shows, never sanitized. The counted twins have the
# same code with a call of a counter at the entry of each function.
FLAGS_O0 = -O0
FLAGS_O2 = -O2
FLAGS_O2_same = -O2 -fno-inline -fno-optimize-sibling-calls
BASELINE = $(CC) -std=gnu11 -falign-functions=64 -c
COUNTED = -pg $(if $(filter x86_64%,$(shell $(CC) -dumpmachine)),-mfentry)
$(BUILD)/fib/baseline-%-counted.o: fib/baseline.c
	@mkdir -p $(@D)
	$(Q)$(BASELINE) $(FLAGS_$*) $(COUNTED) -DFIB=baseline_$*_counted -o $@ $<
$(BUILD)/fib/baseline-%.o: fib/baseline.c
	@mkdir -p $(@D)
	$(Q)$(BASELINE) $(FLAGS_$*) -DFIB=baseline_$* -o $@ $<

# The interpreter's loop wants each handler to end in its own jump.
$(BUILD)/fib/interp.o: ALLFLAGS += -fno-gcse -fno-crossjumping
$(BUILD)/fib/engines.o: $(wildcard fib/programs/*.basm fib/runtimes/*)
$(BUILD)/fib/report.o: results/seed/fib-compare.json

$(BUILD)/tests/unit-fuzz: $(BUILD)/tests/fuzz/differential.o
$(BUILD)/tests/unit-fib $(BUILD)/tests/unit-fuzz: %: %.o $(filter-out %/main.o,$(FIB)) $(COMMON)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -pthread $(LDFLAGS) -o $@ $^ -lcmocka $(FIB_LIBS)

$(BUILD)/tests/unit-file $(BUILD)/tests/unit-words: %: %.o $(filter-out %/main.o,$(FILE)) $(PROBES) $(COMMON)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -pthread $(LDFLAGS) -o $@ $^ -lcmocka $(RING_LIBS)

$(BUILD)/tests/unit-broadcast $(BUILD)/tests/unit-channel: %: %.o $(filter-out %/main.o,$(MESSAGE)) $(PROBES) $(COMMON)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -pthread $(LDFLAGS) -o $@ $^ -lcmocka $(RING_LIBS)

$(BUILD)/tests/unit-%: $(BUILD)/tests/unit-%.o $(filter-out %/main.o,$(SYSCALL)) $(PROBES) $(COMMON)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -pthread $(LDFLAGS) -o $@ $^ -lcmocka $(LIBS)

$(BUILD)/%.o: %.c | build/version.h $(SKELETONS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALLFLAGS) -c -o $@ $<

$(BUILD)/syscall/driver.o: fib/programs/getuid.basm
$(BUILD)/message/seed.o: results/seed/message-rate.json
$(BUILD)/file/report.o: results/seed/file-rate.json
$(BUILD)/syscall/seed.o: results/seed/syscall-rate.json

$(BUILD)/%.bpf.o: probes/%.bpf.c
	@mkdir -p $(@D)
	$(Q)$(CLANG) -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) $(WARN) -Wno-missing-prototypes \
		-I. -idirafter $(SYSROOT)/usr/include/$(MULTIARCH) -MMD -MP -c -o $@ $<

$(BUILD)/%.skel.h: $(BUILD)/%.bpf.o
	$(Q)$(BPFTOOL) gen skeleton $< name $* > $@.tmp && mv $@.tmp $@

build/version.h: FORCE
	@mkdir -p $(@D)
	@printf '#define TOLL_VERSION "%s"\n#define TOLL_COMMIT "%s"\n' '$(VERSION)' \
		"$$(git rev-parse --short HEAD 2>/dev/null || echo unknown)" > $@.tmp
	@cmp -s $@.tmp $@ && rm $@.tmp || mv $@.tmp $@

deps:
	$(Q)scripts/deps.sh $(if $(filter no,$(DEPS)),--report)

probe:
	$(Q)$(MAKE) deps
	$(Q)$(MAKE) all
	$(Q)CORES='$(CORES)' DURATION='$(DURATION)' scripts/probe.sh

test:
	$(Q)$(MAKE) deps
	$(Q)$(MAKE) run-tests

# On another kernel, with eight CPUs: in a virtual machine.
vmtest:
	$(Q)$(MAKE) deps
	$(Q)$(MAKE) all
	$(Q)scripts/vm.sh

bench: all $(BUILD)/tests/bench/hand-loop
	$(Q)scripts/bench.sh
	$(Q)scripts/bench-watch.sh
	$(Q)scripts/bench-fib.sh
	$(Q)scripts/bench-file.sh
	$(Q)scripts/bench-message.sh

$(BUILD)/tests/bench/hand-loop: $(BUILD)/tests/bench/hand-loop.o
	$(Q)$(CC) $(CFLAGS) -o $@ $^

# libFuzzer with AddressSanitizer: FUZZ=program (interpreters against JIT) or text; SECONDS=60.
FUZZ ?= program
SECONDS ?= 60
fuzz: build/fuzz/fuzz-$(FUZZ)
	$(Q)mkdir -p build/fuzz/corpus-$(FUZZ)
	$(Q)$(if $(filter text,$(FUZZ)),cp fib/programs/*.basm tests/programs/*.basm build/fuzz/corpus-text/)
	$(Q)$< -max_total_time=$(SECONDS) -max_len=4096 build/fuzz/corpus-$(FUZZ)
build/fuzz/fuzz-%: tests/fuzz/fuzz-%.c tests/fuzz/differential.c $(filter-out fib/main.c fib/baseline.c fib/engines.c fib/runtime.c fib/sample.c fib/compare.c fib/report.c fib/options.c fib/run-file.c,$(wildcard fib/*.c))
	@mkdir -p $(@D)
	$(Q)$(CLANG) -std=gnu11 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -I. -o $@ $^ -lcapstone

run-tests: all $(UNITS)
	$(Q)BUILD=$(BUILD) prove --exec '' $(UNITS) tests/*.bats

# Builds in build/aarch64, with packages of its own.
crosstest: $(BUILD)/fib-compare
	$(Q)MAKE='$(MAKE)' DEPS='$(DEPS)' NATIVE=$(BUILD)/fib-compare scripts/cross.sh

install: all
	install -d $(BINDIR) $(MANDIR) $(COMPDIR)
	install -m 755 $(addprefix $(BUILD)/,$(PROGRAMS)) $(BINDIR)
	install -m 644 $(PAGES) $(MANDIR)
	$(foreach file,$(COMPLETIONS),install -m 644 $(file) $(COMPDIR)/$(basename $(notdir $(file)));)

uninstall:
	rm -f $(addprefix $(BINDIR)/,$(PROGRAMS)) $(addprefix $(MANDIR)/,$(notdir $(PAGES))) \
		$(addprefix $(COMPDIR)/,$(basename $(notdir $(COMPLETIONS))))

clean:
	rm -rf build $(PROGRAMS)

FORCE:
.PHONY: all deps probe bench test vmtest run-tests crosstest fuzz install uninstall clean FORCE
.SECONDARY:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
