VERSION = $(shell sed -n 's/.*HPCTOOLKIT_VERSION "\(.*\)"/\1/p' lib/version.h)

# make deb: Debian packages of the last commit, in build/deb. The same commit makes the same bytes.
#
# dpkg-buildpackage (package dpkg-dev) says which packages it misses.
DEB      = $(BUILD)/deb
DEB_TREE = $(DEB)/hpctoolkit-callpath
DEB_VERSION = $(VERSION)+$(shell git log -1 --format=%cd.%h --date=format:%Y%m%d)

.PHONY: deb
deb:
	rm -rf $(DEB)
	mkdir -p $(DEB_TREE)
	git archive HEAD | tar -x -C $(DEB_TREE)
	mv $(DEB_TREE)/packaging/debian $(DEB_TREE)/debian
	sed 's/@BUILD_PACKAGES@/$(subst $() ,$(comma) ,$(BUILD_PACKAGES))/' packaging/debian/control.in >$(DEB_TREE)/debian/control
	sed -n 's/^Maintainer: //p' packaging/debian/control.in | { read author; \
		git log -1 --format="hpctoolkit-callpath ($(DEB_VERSION)) unstable; urgency=medium%n%n  * Commit %H.%n%n -- $$author  %cD"; } \
		>$(DEB_TREE)/debian/changelog
	cp LICENSE $(DEB_TREE)/debian/copyright
	cd $(DEB_TREE) && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL dpkg-buildpackage --no-sign --build=binary
	rm -rf $(DEB_TREE)
	ls -l $(DEB)

# make tarball: the tools and what they need, for glibc 2.31 (Debian 11, Ubuntu 20.04) or newer. Nothing is installed:
# it runs where it is unpacked. Of the libraries, those that have a static form in Debian are linked so; libZydis is
# carried along.
TARBALL   = $(BUILD)/hpctoolkit-$(VERSION)-x86_64.tar.gz
PORTABLE  = $(abspath $(BUILD))/portable
FOLDER    = hpctoolkit-$(VERSION)
OLD_GLIBC = $(PORTABLE)/glibc
file_of   = $(shell $(CC) -print-file-name=$(1))

# What the compiler finds first for -lc, -lelf, ... (old-glibc.awk). Functions that are in libc since 2.34 are in libpthread
# and libdl before. A function of libjansson has the name of one of ours. libZydis names libZycore, but uses nothing of it: an empty one stands for it.
$(OLD_GLIBC)/libc.so: packaging/old-glibc.awk packaging/old-glibc.c packaging/module.mk
	mkdir -p $(@D)
	readelf --dyn-syms -W $(call file_of,libc.so.6) $(call file_of,ld-linux-x86-64.so.2) >$(@D)/symbols
	awk -v minor=31 -f $< $(@D)/symbols >$(@D)/stub.s
	awk -v minor=31 -v versions=1 -f $< $(@D)/symbols >$(@D)/stub.map
	$(CC) -shared -nostdlib -Wl,-soname,libc.so.6,--version-script=$(@D)/stub.map -o $(@D)/stub.so $(@D)/stub.s
	$(CC) -O2 -fPIC -Wall -Werror -c -o $(@D)/new.o packaging/old-glibc.c
	rm -f $(@D)/libnew.a && ar rcs $(@D)/libnew.a $(@D)/new.o
	for name in elf iberty ncursesw tinfo z zstd; do ln -sf $$($(CC) -print-file-name=lib$$name.a) $(@D); done
	objcopy --redefine-sym utf8_encode=jansson_utf8_encode $(call file_of,libjansson.a) $(@D)/libjansson.a
	$(CC) -shared -nostdlib -Wl,-soname,libZycore.so.1.4 -o $(@D)/libZycore.so.1.4 -x c /dev/null
	echo "GROUP ( $(@D)/stub.so $(@D)/libnew.a $(call file_of,libc_nonshared.a) )" >$@

.PHONY: tarball
tarball: $(OLD_GLIBC)/libc.so
	rm -rf $(PORTABLE)/$(FOLDER)
	LDFLAGS='-L$(OLD_GLIBC) -Wl,--no-as-needed,-l:libpthread.so.0,-l:libdl.so.2' $(MAKE) install BUILD=$(PORTABLE)/build MPICC=none DESTDIR=$(PORTABLE) PREFIX=/$(FOLDER) \
		TOOL_LDFLAGS='-Wl,--allow-shlib-undefined,-rpath,\$$$$ORIGIN/../lib'
	strip --strip-unneeded $(PORTABLE)/$(FOLDER)/bin/* $(PORTABLE)/$(FOLDER)/lib/*.so $(PORTABLE)/$(FOLDER)/lib/hpcrun-outside \
		$(PORTABLE)/$(FOLDER)/lib/agents/*.so
	cp -L $(call file_of,libZydis.so.4.0) $(OLD_GLIBC)/libZycore.so.1.4 $(PORTABLE)/$(FOLDER)/lib
	cp -r LICENSE README.md doc examples $(PORTABLE)/$(FOLDER)
	tar -C $(PORTABLE) --sort=name --owner=0 --group=0 --numeric-owner --mtime=@$$(git log -1 --format=%ct) \
		--use-compress-program='gzip -9n' -cf $(TARBALL) $(FOLDER)
	ls -l $(TARBALL)
