"""The tools' manual pages: installed, well-formed, and with the options that --help has."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build")).resolve()
PAGES = {"hpcrun": "hpcrun/hpcrun.1", "hpcstruct": "hpcstruct/hpcstruct.1",
         "hpcprof": "hpcprof/hpcprof.1", "hpcviewer": "viewer-tui/hpcviewer.1"}
# Not the end of "measurements[-N]".
OPTION = re.compile(r"(?<![\w-])(?<!\w\[)--?[A-Za-z][\w-]*")


def options_of_help(tool):
    done = subprocess.run([BUILD / "bin" / tool, "--help"], capture_output=True, text=True,
                          check=True)
    return set(OPTION.findall(done.stdout))


def plain(line):
    """A line of a page without fonts and macros: those of two letters join their arguments."""
    line = re.sub(r"\\f[A-Z]", "", line.replace(r"\-", "-"))
    macro = re.match(r"\.([A-Z]+) (.*)", line)
    if not macro:
        return line
    words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', macro[2])]
    return ("" if len(macro[1]) == 2 else " ").join(words)


def sections(page):
    """The lines of each section of a page."""
    found, name = {}, None
    for line in (ROOT / page).read_text().splitlines():
        if line.startswith(".SH "):
            name = line[4:]
        elif name:
            found.setdefault(name, []).append(line)
    return found


class ManPages(unittest.TestCase):
    def test_every_option_of_the_help_is_described_and_no_other(self):
        for tool, page in PAGES.items():
            with self.subTest(tool):
                lines = sections(page)["OPTIONS"]
                tags = [plain(after) for tag, after in zip(lines, lines[1:]) if tag == ".TP"]
                described = [option for tag in tags for option in OPTION.findall(tag)]
                self.assertEqual(len(described), len(set(described)))
                self.assertEqual(set(described), options_of_help(tool))

    def test_nothing_else_is_mentioned(self):
        for tool, page in PAGES.items():
            known = options_of_help(tool) | options_of_help("hpcrun")
            for line in (ROOT / page).read_text().splitlines():
                self.assertLessEqual(set(OPTION.findall(plain(line))), known, f"{page}: {line}")

    def test_what_a_page_has(self):
        for tool, page in PAGES.items():
            with self.subTest(tool):
                found = sections(page)
                for name in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS",
                             "SEE ALSO"):
                    self.assertIn(name, found)
                self.assertRegex(found["NAME"][0], rf"^{tool} \\- \w")
                self.assertEqual({other for other in PAGES
                                  if any(f"{other} (1)" in line for line in found["SEE ALSO"])},
                                 set(PAGES) - {tool})

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_formatting(self):
        for page in PAGES.values():
            done = subprocess.run(["groff", "-man", "-Tutf8", "-wall", "-z", ROOT / page],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)

    def test_installation(self):
        """Tools work where they were installed, and find each other and their pages there."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
        with tempfile.TemporaryDirectory() as prefix:
            subprocess.run(["make", "-s", "install", f"BUILD={BUILD}", f"PREFIX={prefix}"],
                           cwd=ROOT, env=clean, check=True, capture_output=True)
            root = pathlib.Path(prefix)
            for tool, page in PAGES.items():
                installed = root / "share" / "man" / "man1" / f"{tool}.1"
                self.assertEqual(installed.read_text(), (ROOT / page).read_text())
            subprocess.run([root / "bin" / "hpcrun", "-q", "-o", root / "m", "/bin/true"],
                           check=True)
            self.assertTrue((root / "m" / "hpcrun.log").exists())
            for tool in PAGES:
                done = subprocess.run([root / "bin" / tool, "--version"], capture_output=True,
                                      text=True, check=True)
                self.assertTrue(done.stdout.startswith(tool + " "))


if __name__ == "__main__":
    unittest.main()
