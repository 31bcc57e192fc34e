# `make deps`: the Debian packages that building, testing and the demo need. Installed when some are
# missing and we are root; otherwise the line to run is printed.

BUILD_PACKAGES = gcc g++ make pkg-config libc6-dev libiberty-dev libdwarf-dev libelf-dev libzydis-dev libxml2-dev \
	libjansson-dev libncurses-dev zlib1g-dev libzstd-dev libpapi-dev libpfm4-dev
TEST_PACKAGES = python3 libcmocka-dev libunwind-dev clang binutils xz-utils zstd sqlite3 openssl \
	pigz perl tmux libxml2-utils
BENCH_PACKAGES = linux-perf libgoogle-perftools4

# $(call missing,PACKAGES): those that dpkg does not report as installed.
missing = $(filter-out $(shell dpkg-query -W -f '$${Package} $${db:Status-Status}\n' $(1) 2>/dev/null | sed -n 's/ installed$$//p'),$(1))

deps:
	@packages="$(call missing,$(BUILD_PACKAGES) $(TEST_PACKAGES))"; \
	if [ -z "$$packages" ]; then exit 0; fi; \
	if [ "$$(id -u)" != 0 ]; then \
		echo "missing packages; as root: apt-get install $$packages"; exit 1; fi; \
	export DEBIAN_FRONTEND=noninteractive; \
	apt-get update -qq && apt-get install -y -qq --no-install-recommends $$packages
