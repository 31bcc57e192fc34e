# make deb: Debian packages of the last commit, in build/deb. The same commit makes the same bytes.
#
# dpkg-buildpackage (package dpkg-dev) says which packages it misses.
DEB      = $(BUILD)/deb
DEB_TREE = $(DEB)/hpctoolkit-callpath
DEB_VERSION = $(shell sed -n 's/.*HPCTOOLKIT_VERSION "\(.*\)"/\1/p' lib/version.h)+$(shell git log -1 --format=%cd.%h --date=format:%Y%m%d)

.PHONY: deb
deb:
	rm -rf $(DEB)
	mkdir -p $(DEB_TREE)
	git archive HEAD | tar -x -C $(DEB_TREE)
	sed 's/@BUILD_PACKAGES@/$(subst $() ,$(comma) ,$(BUILD_PACKAGES))/' debian/control.in >$(DEB_TREE)/debian/control
	sed -n 's/^Maintainer: //p' debian/control.in | { read author; \
		git log -1 --format="hpctoolkit-callpath ($(DEB_VERSION)) unstable; urgency=medium%n%n  * Commit %H.%n%n -- $$author  %cD"; } \
		>$(DEB_TREE)/debian/changelog
	cp LICENSE $(DEB_TREE)/debian/copyright
	cd $(DEB_TREE) && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL dpkg-buildpackage --no-sign --build=binary
	rm -rf $(DEB_TREE)
	ls -l $(DEB)
