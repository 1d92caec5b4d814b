# make            builds the programs        make test      proves them
# make probe      measures everything        make bench     prints the ratios promised
# make V=1        shows the commands         make SAN=address|undefined|thread  in its own folder
VERSION = 0.1.0
PROGRAMS = syscall-rate
PREFIX ?= /usr/local
BINDIR = $(DESTDIR)$(PREFIX)/bin
MANDIR = $(DESTDIR)$(PREFIX)/share/man/man1
PAGES = syscall/syscall-rate.1
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
BPF_ARCH = $(if $(filter aarch64%,$(shell $(CC) -dumpmachine)),arm64,x86)
MULTIARCH = $(shell $(CC) -print-multiarch)

COMMON = $(patsubst %.c,$(BUILD)/%.o,$(wildcard common/*.c))
PROBES = $(patsubst %.c,$(BUILD)/%.o,$(filter-out %.bpf.c,$(wildcard probes/*.c)))
SYSCALL = $(patsubst %.c,$(BUILD)/%.o,$(wildcard syscall/*.c))
SKELETONS = $(patsubst probes/%.bpf.c,$(BUILD)/%.skel.h,$(wildcard probes/*.bpf.c))
UNITS = $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/unit-*.c))

all: $(if $(SAN),$(addprefix $(BUILD)/,$(PROGRAMS)),$(PROGRAMS))

$(PROGRAMS): %: $(BUILD)/%
	$(Q)cp $< $@

$(BUILD)/syscall-rate: $(SYSCALL) $(PROBES) $(COMMON)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -pthread $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/tests/unit-%: $(BUILD)/tests/unit-%.o $(filter-out %/main.o,$(SYSCALL)) $(PROBES) $(COMMON)
	$(Q)$(CC) $(CFLAGS) $(SANFLAGS) -pthread $(LDFLAGS) -o $@ $^ -lcmocka $(LIBS)

$(BUILD)/%.o: %.c | build/version.h $(SKELETONS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALLFLAGS) -c -o $@ $<

$(BUILD)/syscall/seed.o: results/seed/syscall-rate.json

$(BUILD)/%.bpf.o: probes/%.bpf.c
	@mkdir -p $(@D)
	$(Q)$(CLANG) -g -O2 -target bpf -D__TARGET_ARCH_$(BPF_ARCH) $(WARN) -Wno-missing-prototypes \
		-I. -idirafter /usr/include/$(MULTIARCH) -MMD -MP -c -o $@ $<

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

bench: all $(BUILD)/tests/bench/hand-loop
	$(Q)scripts/bench.sh

$(BUILD)/tests/bench/hand-loop: $(BUILD)/tests/bench/hand-loop.o
	$(Q)$(CC) $(CFLAGS) -o $@ $^

run-tests: all $(UNITS)
	$(Q)BUILD=$(BUILD) prove --exec '' $(UNITS) tests/*.bats

install: all
	install -d $(BINDIR) $(MANDIR)
	install -m 755 $(PROGRAMS) $(BINDIR)
	install -m 644 $(PAGES) $(MANDIR)

uninstall:
	rm -f $(addprefix $(BINDIR)/,$(PROGRAMS)) $(addprefix $(MANDIR)/,$(notdir $(PAGES)))

clean:
	rm -rf build $(PROGRAMS)

FORCE:
.PHONY: all deps probe bench test run-tests install uninstall clean FORCE
.SECONDARY:
-include $(shell find build -name '*.d' 2>/dev/null)
