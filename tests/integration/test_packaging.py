"""The lists of the Debian packages (packaging/debian) have what `make install` installs; `make deb` needs debhelper. And
what hpcrun needs on systems that are older than this one, where the tarball runs, too."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from test_man_pages import BUILD, ROOT, install

LISTS = ROOT / "packaging" / "debian"
PREFIX = "usr/lib/hpctoolkit-callpath"


class Lists(unittest.TestCase):
    def patterns(self):
        for path in (*LISTS.glob("*.install"), *LISTS.glob("*.manpages")):
            for line in path.read_text().splitlines():
                yield path.name, line.split()[0].removeprefix("debian/tmp/")

    def test_each_installed_file_is_in_one_package(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            install(DESTDIR=root, PREFIX=f"/{PREFIX}")
            installed = {path.relative_to(root) for path in root.rglob("*") if not path.is_dir()}
            self.assertGreater(len(installed), 30)
            listed = []
            for where, pattern in self.patterns():
                found = [file for match in root.glob(pattern)
                         for file in ([match] if not match.is_dir() else match.rglob("*")) if not file.is_dir()]
                if not pattern.endswith("hpcprof-mpi"):  # is there if MPI is
                    self.assertNotEqual(found, [], f"{where}: {pattern}")
                listed += [path.relative_to(root) for path in found]
        self.assertEqual(sorted(listed), sorted(installed))

    def test_links_lead_to_installed_tools(self):
        for path in LISTS.glob("*.links"):
            for line in path.read_text().splitlines():
                target, link = line.split()
                if link.startswith("usr/bin/"):
                    self.assertEqual(target, f"{PREFIX}/bin/{os.path.basename(link)}")
                    self.assertIn(target, [pattern for _, pattern in self.patterns()])


class OlderSystems(unittest.TestCase):
    def test_versions_of_functions(self):
        """dlsym finds the oldest version of a function before glibc 2.36, so hpcrun names the version that programs use
        where they differ (hpcrun/base/hook.h)."""
        used = subprocess.run(["ldd", BUILD / "bin" / "hpcrun"], capture_output=True, text=True, check=True).stdout
        libc = re.search(r"libc\.so\.6 => (\S+)", used)[1]
        printed = subprocess.run(["readelf", "--dyn-syms", "-W", libc], capture_output=True, text=True, check=True).stdout
        versions = {}
        for address, name, mark, version in re.findall(r": (\w+) .* (\w+)(@@?)(GLIBC_[\d.]+)$", printed, re.M):
            versions.setdefault(name, {})[address] = version if mark == "@@" else None
        hooked = {}
        for path in (ROOT / "hpcrun").rglob("*.c"):
            hooked |= re.findall(r'(?m)^REAL_(?:FUNCTION|VERSION)\((\w+)(?:, "(\S+)")?\)', path.read_text())
        self.assertGreater(len(hooked), 50)
        for name in sorted(set(hooked) & set(versions)):
            default = next(filter(None, versions[name].values())) if len(versions[name]) > 1 else ""
            self.assertEqual(hooked[name], default, name)
