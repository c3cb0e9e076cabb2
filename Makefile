# pult: `make demo` to try it, `make check` to test it, `make help` for the rest.

SANITIZE ?=
WERROR   ?=
BUILD    ?= build$(if $(SANITIZE),-$(subst $(comma),-,$(SANITIZE)))
PREFIX   ?= /usr/local
CFLAGS   ?= -O2 -g
JOBS     ?= $(shell nproc)
FUZZ_SECONDS ?= 30

comma   := ,
DATADIR  = $(PREFIX)/share/pult
LIBDIR   = $(PREFIX)/lib
MODULEDIR = $(LIBDIR)/pult
DOCDIR   = $(PREFIX)/share/doc/pult
MANDIR   = $(PREFIX)/share/man
BASHDIR  = $(PREFIX)/share/bash-completion/completions

# --- What is built from what ---------------------------------------------------------------------

CORE_PACKAGES := glib-2.0 gio-2.0 gmodule-no-export-2.0 ncursesw yaml-0.1 jansson libpcre2-8 libcrypt

# A backend with a library of its own is a module, loaded when a layout names it; without the
# library it is left out. `ssh: libssh` is backends/ssh/ssh*, modules/ssh.so and HAVE_SSH.
BACKEND_LIBS  := ssh:libssh ipmi:libfreeipmi,libipmiconsole snmp:netsnmp vswitch:libtelnet,libcurl \
                  libvirt:libvirt,libvirt-glib-1.0,libxml-2.0
backend_there  = $(shell pkg-config --exists $(subst $(comma), ,$(lastword $(subst :, ,$(1)))) && echo $(1))
BACKENDS_HAVE := $(foreach b,$(BACKEND_LIBS),$(call backend_there,$(b)))
BACKENDS_LACK := $(filter-out $(BACKENDS_HAVE),$(BACKEND_LIBS))
BACKEND_NAMES := $(foreach b,$(BACKENDS_HAVE),$(firstword $(subst :, ,$(b))))
module_packages = $(subst $(comma), ,$(lastword $(subst :, ,$(filter $(1):%,$(BACKENDS_HAVE)))))
PACKAGES      := $(CORE_PACKAGES) $(foreach b,$(BACKEND_NAMES),$(call module_packages,$(b)))
HAVE          := $(foreach n,$(BACKEND_NAMES),-DHAVE_$(shell echo $(n) | tr a-z A-Z))

LIB_SOURCES   := $(wildcard console/model/*.c console/core/*.c console/session/*.c console/ui/*.c \
                   backends/*.c backends/*/*.c)
LIB_SOURCES   := $(filter-out $(foreach b,$(BACKENDS_LACK),backends/$(firstword $(subst :, ,$(b)))/$(firstword $(subst :, ,$(b)))%), \
                   $(LIB_SOURCES))
module_sources = $(wildcard backends/$(1)/$(1)*.c)
MODULE_SOURCES := $(foreach b,$(BACKEND_NAMES),$(call module_sources,$(b)))
# What modules and the program must agree about.
MODULE_HEADERS := $(wildcard console/model/*.h backends/*.h backends/proc/*.h backends/pxe/*.h)
MAIN_SOURCES  := $(wildcard console/main*.c)
DATA          := $(sort $(wildcard layouts/*.yaml scripts/*.pult scripts/jobs/*.yaml backends/devices/*.yaml \
                   backends/stages/*.yaml))
MAN            = $(patsubst console/man/%.in,$(BUILD)/man/%,$(wildcard console/man/*.in))
UNIT_SOURCES  := $(wildcard tests/unit/test_*.c tests/contract/test_*.c tests/screen/test_*.c)
BENCH_SOURCES := $(wildcard tests/bench/bench_*.c)
FUZZ_SOURCES  := $(wildcard tests/fuzz/fuzz_*.c)
# Each fuzz program is a test as well: replay_X gives it tests/fuzz/corpus/X, without clang.
REPLAYS       := $(FUZZ_SOURCES:tests/fuzz/fuzz_%.c=tests/fuzz/replay_%)
# X_driver runs the subcommand of console/main_X.c many times over, for a script.
DRIVER_SOURCES := $(wildcard tests/peers/*_driver.c)
# Other C files beside the tests are help that several of them share.
TEST_SOURCES  := $(filter-out $(UNIT_SOURCES) $(BENCH_SOURCES) $(DRIVER_SOURCES) tests/fuzz/%, \
                   $(wildcard tests/*/*.c))
TEST_SCRIPTS  := $(wildcard tests/*.test tests/peers/*.test tests/screen/*.test)
TESTS         ?= $(UNIT_SOURCES:%.c=%) $(REPLAYS) $(TEST_SCRIPTS)

MODULES        = $(BACKEND_NAMES:%=$(BUILD)/modules/%.so)
MODULE_OBJECTS = $(MODULE_SOURCES:%.c=$(BUILD)/%.o)
LIB_OBJECTS    = $(LIB_SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/data.o $(BUILD)/stamp.o
CORE_OBJECTS   = $(filter-out $(MODULE_OBJECTS),$(LIB_OBJECTS))
MAIN_OBJECTS   = $(MAIN_SOURCES:%.c=$(BUILD)/%.o)
TEST_OBJECTS   = $(TEST_SOURCES:%.c=$(BUILD)/%.o)
TEST_PROGRAMS  = $(foreach t,$(TESTS),$(if $(filter %.test,$t),$t,$(abspath $(BUILD)/$t)))
DRIVERS        = $(DRIVER_SOURCES:%.c=$(BUILD)/%)
BENCH_PROGRAMS = $(BENCH_SOURCES:%.c=$(BUILD)/%)
FUZZ          ?= $(FUZZ_SOURCES:tests/fuzz/fuzz_%.c=%)
FUZZ_PROGRAMS  = $(FUZZ:%=$(BUILD)/tests/fuzz/fuzz_%)

all: $(if $(wildcard console/main.c),$(BUILD)/pult $(MODULES) $(MAN),$(BUILD)/libpult.a) ## build the program (the default)
test-programs: $(patsubst $(CURDIR)/%,%,$(filter-out %.test,$(TEST_PROGRAMS))) $(DRIVERS)
bench-programs: $(BENCH_PROGRAMS)
fuzz-programs: $(FUZZ_PROGRAMS)
all test-programs bench-programs fuzz-programs:
	@:

# --- Flags ---------------------------------------------------------------------------------------

# Asked once, when first needed: `make demo` may have to install the packages before.
PACKAGE_CFLAGS = $(eval PACKAGE_CFLAGS := $$(shell pkg-config --cflags $(PACKAGES)))$(PACKAGE_CFLAGS)
PACKAGE_LIBS   = $(eval PACKAGE_LIBS := $$(shell pkg-config --libs $(PACKAGES)))$(PACKAGE_LIBS)
CORE_LIBS      = $(eval CORE_LIBS := $$(shell pkg-config --libs $(CORE_PACKAGES)))$(CORE_LIBS)

WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes $(if $(WERROR),-Werror)
SANITIZE_FLAGS = $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all \
                   -fno-omit-frame-pointer)
# No fused multiply-add: the same figures on every processor.
COMPILE = $(CC) -std=gnu17 -ffp-contract=off -fno-math-errno $(WARNINGS) -Iconsole -I. \
  -D_GNU_SOURCE -DG_LOG_DOMAIN='"pult"' -DPULT_DATADIR='"$(DATADIR)"' \
  -DPULT_MODULEDIR='"$(MODULEDIR)"' $(HAVE) $(PACKAGE_CFLAGS) \
  $(SANITIZE_FLAGS) $(CPPFLAGS) $(CFLAGS) $(MODULE_CFLAGS)
LINK    = $(CC) $(SANITIZE_FLAGS) $(CFLAGS) -Wl,-O1,--as-needed $(LDFLAGS)
EXPORT  = -Wl,--dynamic-list=$(BUILD)/exports
# A module shows its BACKEND_MODULE and no more.
$(MODULE_OBJECTS) $(BUILD)/stamp.o: private MODULE_CFLAGS = -fPIC -fvisibility=hidden
LIBS    = $(PACKAGE_LIBS) -lm $(LDLIBS)

quote = '$(subst ','\'',$(1))'
# Writes text to the target, and touches it only when the text is another than before.
keep = @mkdir -p $(@D); printf '%s\n' $(call quote,$(1)) >$@.new; \
       if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

say = $(if $(V),,@echo '$(1) $@';)# commands are shown whole with V=1

# --- Rules ---------------------------------------------------------------------------------------

# All of the core, as modules may need what the program itself does not.
$(BUILD)/pult: $(MAIN_OBJECTS) $(CORE_OBJECTS) $(if $(MODULES),$(BUILD)/exports) $(BUILD)/objects
	$(call say,link)$(LINK) -o $@ $(if $(MODULES),$(EXPORT)) \
	  $(MAIN_OBJECTS) $(CORE_OBJECTS) $(CORE_LIBS) -lm $(LDLIBS)

# What modules want of the program is shown to them; nothing else of it can clash with a library.
$(BUILD)/exports: $(MODULE_OBJECTS) $(CORE_OBJECTS)
	@{ nm -u $(MODULE_OBJECTS); nm -g --defined-only $(filter-out %/stamp.o,$(CORE_OBJECTS)); } | \
	awk 'BEGIN { print "{" } $$1 == "U" { wanted[$$2] } NF == 3 && $$3 in wanted { print $$3 ";" } \
	     END { print "};" }' >$@

define module_rule
$(BUILD)/modules/$(1).so: $(patsubst %.c,$(BUILD)/%.o,$(call module_sources,$(1))) $(BUILD)/stamp.o
endef
$(foreach b,$(BACKEND_NAMES),$(eval $(call module_rule,$(b))))
$(MODULES): $(BUILD)/modules/%.so: $(BUILD)/flags $(BUILD)/objects
	@mkdir -p $(@D)
	$(call say,link)$(LINK) -shared -o $@ $(filter %.o,$^) \
	  $$(pkg-config --libs $(CORE_PACKAGES) $(call module_packages,$*)) -lm $(LDLIBS)

$(BUILD)/libpult.a: $(LIB_OBJECTS) $(BUILD)/objects
	@rm -f $@
	$(call say,  ar)ar rcs $@ $(LIB_OBJECTS)

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,  cc)$(COMPILE) -MMD -MP -c -o $@ $<

$(BUILD)/tests/%: tests/%.c $(TEST_OBJECTS) $(BUILD)/libpult.a $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,  cc)$(COMPILE) -MMD -MP -MF $@.d -o $@ $< $(TEST_OBJECTS) $(LDFLAGS) $(BUILD)/libpult.a $(LIBS) -lcmocka

$(BUILD)/tests/peers/%_driver: tests/peers/%_driver.c $(BUILD)/console/main_%.o $(BUILD)/libpult.a $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,  cc)$(COMPILE) -MMD -MP -MF $@.d -o $@ $< $(BUILD)/console/main_$*.o $(LDFLAGS) $(BUILD)/libpult.a $(LIBS)

$(BUILD)/tests/fuzz/%: tests/fuzz/%.c $(BUILD)/libpult.a $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,  cc)$(COMPILE) -fsanitize=fuzzer -MMD -MP -MF $@.d -o $@ $< $(LDFLAGS) $(BUILD)/libpult.a $(LIBS)

$(BUILD)/tests/fuzz/replay_%: tests/fuzz/fuzz_%.c $(BUILD)/tests/fuzz/replay.o $(BUILD)/libpult.a $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,  cc)$(COMPILE) -MMD -MP -MF $@.d -o $@ $< $(BUILD)/tests/fuzz/replay.o $(LDFLAGS) $(BUILD)/libpult.a $(LIBS)

# Shipped layouts, scripts and jobs, compiled in as a GResource under /pult/.
$(BUILD)/data.c: $(BUILD)/data.xml $(DATA)
	$(call say,data)glib-compile-resources --sourcedir=. --target=$@ --generate-source --c-name pult_data $<
$(BUILD)/data.o $(BUILD)/stamp.o: $(BUILD)/%.o: $(BUILD)/%.c $(BUILD)/flags
	$(call say,  cc)$(COMPILE) -Wno-missing-prototypes -c -o $@ $<

# The program tells its own tables of keys and commands.
$(BUILD)/man/%: console/man/%.in console/man/fill $(BUILD)/pult
	@mkdir -p $(@D)
	$(call say, man)console/man/fill $(BUILD)/pult '$(DATADIR)' '$(MODULEDIR)' <$< >$@

$(BUILD)/stamp.c: FORCE
	$(call keep,const char backend_stamp[] = "$(shell cat $(MODULE_HEADERS) | sha256sum | cut -c -12)";)
$(BUILD)/data.xml: FORCE
	$(call keep,<gresources><gresource prefix="/pult">$(DATA:%=<file>%</file>)</gresource></gresources>)
$(BUILD)/objects: FORCE
	$(call keep,$(LIB_OBJECTS))
$(BUILD)/flags: FORCE
	@pkg-config --exists --print-errors $(PACKAGES) || { echo 'scripts/install-deps installs it'; exit 1; }
	$(call keep,$(COMPILE) $(LINK))
FORCE:

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

# --- What a person asks for ----------------------------------------------------------------------

SUBMAKE = $(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS))

demo: ## install what is missing, build, open the console on the two-room lab
	@scripts/install-deps build
	@$(SUBMAKE) all
	@if [ -t 0 ] && [ -t 1 ]; then exec $(BUILD)/pult; \
	 else exec $(BUILD)/pult run scripts/demo.pult --jump; fi

lab: ## raise the lab of network namespaces (root), open the console on it
	@scripts/install-deps build lab
	@$(SUBMAKE) all
	@scripts/labs/nslab up
	@if [ -t 0 ] && [ -t 1 ]; then \
	   exec $(BUILD)/pult --layout "$${PULT_LABS:-/var/lib/pult-labs}/lab/layout.yaml"; fi

room: ## raise the room of virtual PCs (root), open the console on it
	@scripts/install-deps build room
	@$(SUBMAKE) all
	@scripts/labs/vmlab up
	@if [ -t 0 ] && [ -t 1 ]; then \
	   exec $(BUILD)/pult --layout "$${PULT_LABS:-/var/lib/pult-labs}/room/layout.yaml"; fi

RUN_TESTS = SRC=$(CURDIR) BUILD=$(abspath $(BUILD)) SANITIZE=$(SANITIZE) \
            TEST_TIMEOUT=$(if $(SANITIZE),600,400) tests/run

check: ## install what is missing, build, run every test; TESTS=tests/unit/test_flow runs one
	@scripts/install-deps build check $(if $(filter true,$(CI)),lab room)
	@$(SUBMAKE) all test-programs
	@$(RUN_TESTS) $(TEST_PROGRAMS)

# These try the lab's own programs and ClusterShell more than this one, and take minutes.
UNSANITIZED = $(if $(filter file,$(origin TESTS)),tests/peers/nodeset.test tests/peers/nslab.test \
                tests/peers/nslab_loads.test \
                tests/peers/vmlab.test tests/peers/room.test)

check-asan: ## the same under AddressSanitizer, LeakSanitizer and UBSan
	@$(MAKE) --no-print-directory check SANITIZE=address,undefined \
	  TESTS="$(filter-out $(UNSANITIZED),$(TESTS))"

check-tsan: ## the same under ThreadSanitizer
	@$(MAKE) --no-print-directory check SANITIZE=thread

# Programs only: what a shell or Python starts would be left out. These take what a program has to
# do, or what it must be quick enough for, from another: under valgrind they are of no use.
UNVALGRINDED = tests/contract/test_random_session tests/contract/test_sim_rules tests/contract/test_ipmi% \
               tests/contract/test_libvirt_daemon tests/contract/test_log_rules
VALGRIND = valgrind --quiet --error-exitcode=9 --child-silent-after-fork=yes --leak-check=full \
             --show-leak-kinds=definite --errors-for-leak-kinds=definite

check-valgrind: ## programs of tests/unit and tests/contract under valgrind
	@scripts/install-deps build check valgrind
	@TEST_UNDER="$(VALGRIND)" $(MAKE) --no-print-directory check TESTS="$(filter-out $(UNVALGRINDED), \
	  $(filter tests/unit/% tests/contract/%,$(TESTS)))"

# One after the other: each of them wants all there is of processors.
check-room: ## boot 17 virtual PCs over PXE, a block by the keys of video switches (root)
	@scripts/install-deps build check lab room
	@$(SUBMAKE) all
	@ROOM=1 TEST_JOBS=1 $(RUN_TESTS:tests/run=TEST_TIMEOUT=900 tests/run) \
	  tests/peers/vmlab.test tests/peers/room.test tests/peers/block_by_switch.test

check-chroot: ## `make demo` and `make check` of a clean clone in a fresh Debian 12
	@scripts/install-deps chroot
	@tests/peers/chroot.sh

lint: ## format, cppcheck, shellcheck, what includes what, lengths, banned words
	@scripts/install-deps build lint
	@$(RUN_TESTS) $(wildcard tests/lint/*.test)

bench: ## build and run the benchmarks
	@scripts/install-deps build check bench
	@$(SUBMAKE) all bench-programs
	@set -e; export SRC=$(CURDIR) BUILD=$(abspath $(BUILD)) PULT=$(abspath $(BUILD))/pult; \
	for b in $(BENCH_PROGRAMS) $(wildcard tests/bench/*.py); do $$b; done

fuzz: ## run each fuzz program for FUZZ_SECONDS; FUZZ=yaml runs one
	@scripts/install-deps build fuzz
	@$(SUBMAKE) BUILD=build-fuzz CC=clang SANITIZE=fuzzer-no-link,address,undefined fuzz-programs
	@set -e; $(if $(FUZZ_SOURCES),,echo 'there are no fuzz programs';) \
	for name in $(FUZZ); do \
	  mkdir -p build-fuzz/corpus/$$name tests/fuzz/corpus/$$name; \
	  echo "fuzz $$name for $(FUZZ_SECONDS) s"; \
	  build-fuzz/tests/fuzz/fuzz_$$name -max_total_time=$(FUZZ_SECONDS) -timeout=60 -report_slow_units=60 \
	    -dict=tests/fuzz/words -artifact_prefix=build-fuzz/$$name- -verbosity=0 -print_final_stats=1 \
	    build-fuzz/corpus/$$name tests/fuzz/corpus/$$name; \
	done

install: all ## install under DESTDIR and PREFIX (/usr/local)
	install -D -m 755 $(BUILD)/pult $(DESTDIR)$(PREFIX)/bin/pult
	set -e; for f in $(MODULES); do install -D -m 644 -t $(DESTDIR)$(MODULEDIR) $$f; done
	install -D -m 644 -t $(DESTDIR)$(DOCDIR) LICENSE README.md
	set -e; for f in $(DATA); do install -D -m 644 $$f $(DESTDIR)$(DATADIR)/$$f; done
	set -e; for f in $(MAN); do \
	  install -D -m 644 -t $(DESTDIR)$(MANDIR)/man$${f##*.} $$f; done
	install -D -m 644 -t $(DESTDIR)$(BASHDIR) scripts/completion/pult

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/pult $(addprefix $(DESTDIR)$(DATADIR)/,$(DATA)) \
	  $(foreach f,$(MAN),$(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $f))/$(notdir $f)) \
	  $(DESTDIR)$(DOCDIR)/LICENSE $(DESTDIR)$(DOCDIR)/README.md $(DESTDIR)$(BASHDIR)/pult \
	  $(MODULES:$(BUILD)/modules/%=$(DESTDIR)$(MODULEDIR)/%)
	for d in $(MODULEDIR) $(DATADIR)/layouts $(DATADIR)/scripts/jobs $(DATADIR)/scripts $(DATADIR)/backends/devices $(DATADIR)/backends/stages $(DATADIR)/backends $(DATADIR) $(DOCDIR); do \
	  [ ! -d $(DESTDIR)$$d ] || rmdir --ignore-fail-on-non-empty $(DESTDIR)$$d; done

clean: ## remove what was built
	rm -rf build build-*

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

.PHONY: all test-programs bench-programs fuzz-programs demo lab room check check-room check-asan \
  check-tsan check-valgrind check-chroot lint bench fuzz install uninstall clean help FORCE
.SECONDARY:
.DELETE_ON_ERROR:
