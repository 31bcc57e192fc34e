"""--help and the manual pages of the tools, both made from their tables of options (lib/option-table.h)."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build")).resolve()
TOOLS = ("hpcrun", "hpcstruct", "hpcprof", "hpcviewer")
PAGES = {tool: BUILD / "man" / f"{tool}.1" for tool in TOOLS}
# Not the end of "measurements[-N]".
OPTION = re.compile(r"(?<![\w-])(?<!\w\[)--?[A-Za-z][\w-]*")


def install(*options, **variables):
    """make install of what is built. It builds nothing, though a source has changed: other tests run the tools."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    variables["BUILD"] = os.path.relpath(BUILD, ROOT)
    assignments = [f"{name}={value}" for name, value in variables.items()]
    subprocess.run(["make", "-s", "-o", "all", *options, "install", *assignments], cwd=ROOT, env=clean, check=True,
                   capture_output=True)


def help_of(tool):
    return subprocess.run([BUILD / "bin" / tool, "--help"], capture_output=True, text=True, check=True).stdout


def options_of_help(tool):
    """The options that begin a line of --help."""
    heads = [re.split(r"  +", line.strip())[0] for line in help_of(tool).splitlines() if line.startswith("  ")]
    return {option for head in heads if head.startswith("-") for option in OPTION.findall(head)}


def option_table(tool):
    table = subprocess.run([BUILD / "bin" / tool, "--option-table"], capture_output=True, text=True, check=True).stdout
    return [line.split("\t") for line in table.splitlines()]


def options_of_table(tool):
    """All options; --help has 35 lines."""
    rows = option_table(tool)
    return {f"--{row[1]}" for row in rows} | {f"-{row[0]}" for row in rows if row[0]}


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
    for line in page.read_text().splitlines():
        if line.startswith(".SH "):
            name = line[4:]
        elif name:
            found.setdefault(name, []).append(line)
    return found


class Help(unittest.TestCase):
    def test_it_fits_a_screen(self):
        for tool in TOOLS:
            lines = help_of(tool).splitlines()
            self.assertLessEqual(len(lines), 35, tool)
            self.assertEqual([line for line in lines if len(line) > 80], [], tool)

    def test_no_option_is_missing(self):
        for tool in TOOLS:
            rows, names = option_table(tool), options_of_table(tool)
            self.assertGreater(len(rows), 5)
            self.assertTrue(all(len(row) == 6 and row[5] for row in rows), rows)
            missing = names - options_of_help(tool)
            self.assertLessEqual(options_of_help(tool), names)
            if missing:  # the help has no room for them
                self.assertEqual(len(help_of(tool).splitlines()), 35, missing)
            self.assertEqual([option for option in names if option[:2] == "--" and self.is_unknown(tool, option)], [])

    def is_unknown(self, tool, option):
        """Nothing has that name: as a command or file it keeps the tool from its work (hpcrun --all)."""
        done = subprocess.run([BUILD / "bin" / tool, option, "/nonexistent/name"], capture_output=True, text=True)
        return "unknown option" in done.stderr


class ManPages(unittest.TestCase):
    def test_every_option_is_described_and_no_other(self):
        for tool, page in PAGES.items():
            with self.subTest(tool):
                lines = sections(page)["OPTIONS"]
                tags = [plain(after) for tag, after in zip(lines, lines[1:]) if tag == ".TP"]
                described = [option for tag in tags for option in OPTION.findall(tag)]
                self.assertEqual(len(described), len(set(described)))
                self.assertEqual(set(described), options_of_table(tool))

    def test_nothing_else_is_mentioned(self):
        for tool, page in PAGES.items():
            known = options_of_table(tool) | options_of_table("hpcrun")
            for line in page.read_text().splitlines():
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
            done = subprocess.run(["groff", "-man", "-Tutf8", "-wall", "-z", page],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)

    def test_installation(self):
        """Tools work where they were installed, and find each other and their pages there."""
        made = (BUILD / "bin" / "hpcrun").stat().st_mtime_ns
        with tempfile.TemporaryDirectory() as prefix:
            install("-W", "lib/version.h", PREFIX=prefix)  # as if that had changed
            self.assertEqual((BUILD / "bin" / "hpcrun").stat().st_mtime_ns, made)
            root = pathlib.Path(prefix)
            for tool, page in PAGES.items():
                installed = root / "share" / "man" / "man1" / f"{tool}.1"
                self.assertEqual(installed.read_text(), page.read_text())
            subprocess.run([root / "bin" / "hpcrun", "-q", "-o", root / "m", "/bin/true"],
                           check=True)
            self.assertTrue((root / "m" / "hpcrun.log").exists())
            for tool in PAGES:
                done = subprocess.run([root / "bin" / tool, "--version"], capture_output=True,
                                      text=True, check=True)
                self.assertTrue(done.stdout.startswith(tool + " "))
