# The Debian packages for build, tests and demo (`make deps`), and those that only the benchmarks need. make installs
# missing ones as root; otherwise it prints the line to run.

BUILD_PACKAGES = gcc g++ make pkg-config libc6-dev libiberty-dev libdwarf-dev libelf-dev \
	libzydis-dev libjansson-dev libncurses-dev zlib1g-dev libzstd-dev libpapi-dev \
	libpfm4-dev
TEST_PACKAGES = python3 python3-dev libcmocka-dev libunwind-dev clang llvm binutils dwz libc6-dbg xz-utils zstd \
	sqlite3 openssl pigz perl tmux libtbb-dev libxml2-dev libxml2-utils valgrind musl-tools \
	libomp-dev libopenblas-pthread-dev strace gdb git groff-base nodejs libcap2-bin \
	libopenmpi-dev openmpi-bin gfortran
TEST_ALL_PACKAGES = chromium locales
BENCH_PACKAGES = linux-perf libgoogle-perftools4 nodejs openjdk-17-jre-headless x264 imagemagick \
	primecount-bin

# $(call missing,PACKAGES): those that dpkg does not report as installed.
missing = $(filter-out $(shell dpkg-query -W -f '$${Package} $${db:Status-Status}\n' $(1) 2>/dev/null | sed -n 's/ installed$$//p'),$(1))

# $(call install_missing,PACKAGES)
define install_missing
	@packages="$(call missing,$(1))"; \
	if [ -z "$$packages" ]; then exit 0; fi; \
	if [ "$$(id -u)" != 0 ]; then \
		echo "missing packages; as root: apt-get install $$packages"; exit 1; fi; \
	export DEBIAN_FRONTEND=noninteractive; \
	apt-get update -qq && apt-get install -y -qq --no-install-recommends $$packages
endef

deps:
	$(call install_missing,$(BUILD_PACKAGES) $(TEST_PACKAGES))

test-all-deps:
	$(call install_missing,$(BUILD_PACKAGES) $(TEST_PACKAGES) $(TEST_ALL_PACKAGES))

bench-deps:
	$(call install_missing,$(BUILD_PACKAGES) $(TEST_PACKAGES) $(BENCH_PACKAGES))
