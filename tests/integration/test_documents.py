"""README.md and doc/: relative links lead somewhere, the paths of the tree that a page names exist, and the programs in
its examples."""
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
import tour
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "doc").glob("*.md"))]
TOP = {entry.name for entry in ROOT.iterdir() if entry.is_dir()} - {"build", ".git"}
ELSEWHERE = {"doc/FORMATS.md"}  # in HPCToolkit's repository, and in every database
MOST_COLUMNS, README_LINES = 120, 140


def anchors(page):
    """The anchors that GitHub makes of headings: "## 1. A tour" is #1-a-tour."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


# What a type of hpcprof/database/run-fields.h is called in the document.
JSON_TYPES = {"number": ["integer"], "amount": ["number"], "truth": ["boolean"], "known_number": ["integer or null"],
              "known_amount": ["number or null"], "text": ["text", "text or null"], "code": ["text"], "ids": ["array"],
              "statistics": ["array"], "regions": ["array"], "INNER": ["array", "object", "text"]}


def documented_members():
    """{kind of object: [(member, type)]} in FORMAT-database.md."""
    tables = {}
    for head, rows in re.findall(r"^\| member of (.*?) \|.*\n.*\n((?:\| .*\n)+)", (ROOT / "doc/FORMAT-database.md").read_text(), re.M):
        name = re.sub("^(an?|the) |`|:.*", "", head)
        tables[name] = re.findall(r"^\| `(\w+)` \| ([\w ]+) \|", rows, re.M)
    return tables


def written_members():
    """The same from the lists in run-fields.h."""
    source, lists = (ROOT / "hpcprof/database/run-fields.h").read_text(), {}
    for name, rows in re.findall(r"^#ifdef FIELDS_OF_(\w+).*\n((?:.*\n)+?)#undef", source, re.M):
        found = re.findall(r'^(?:FIELD\(|SOMETIMES\([^"]*?, ?|(INNER)\()(?:(\w+),\s+)?"(\w+)"', rows, re.M)
        lists[name.lower().replace("_", " ")] = [(member, inner or kind) for inner, kind, member in found]
    return lists


class Documents(unittest.TestCase):
    def test_links(self):
        for page in DOCUMENTS:
            for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
                if re.match(r"https?:", link):
                    continue
                with self.subTest(page=page.name, link=link):
                    path, _, anchor = link.partition("#")
                    target = page.parent / path if path else page
                    self.assertTrue(target.exists())
                    if anchor:
                        self.assertIn(anchor, anchors(target))

    def test_paths(self):
        """`hpcrun/module.mk`, also with stars; not build/..., NAME placeholders and commands."""
        for page in DOCUMENTS:
            for path in re.findall(r"`([\w.*/-]+/[\w.*-]*)`", page.read_text()):
                if path.split("/")[0] not in TOP or "NAME" in path or path in ELSEWHERE:
                    continue
                with self.subTest(page=page.name, path=path):
                    self.assertTrue(list(ROOT.glob(path.rstrip("/"))))

    def test_programs_of_the_tests(self):
        """`build/tests/programs/cilk/fib 30`: its source is there."""
        sources = {path.relative_to(ROOT / "tests/programs").with_suffix("")
                   for path in (ROOT / "tests/programs").rglob("*.*")}
        for page in DOCUMENTS:
            for path in re.findall(r"build/tests/programs/([\w/-]+)", page.read_text()):
                with self.subTest(page=page.name, path=path):
                    self.assertIn(pathlib.Path(path), sources)

    def test_members_of_run_json(self):
        """The tables of FORMAT-database.md have the members of run.json that hpcprof writes, in their order, with their
        types."""
        documented, written = documented_members(), written_members()
        self.assertEqual(documented.keys(), written.keys())
        self.assertGreater(len(written), 10)
        for name, members in written.items():
            self.assertEqual([member for member, _ in documented[name]], [member for member, _ in members], name)
            for (member, is_documented), (_, kind) in zip(documented[name], members):
                self.assertIn(is_documented, JSON_TYPES[kind], (name, member))

    def test_every_page_is_linked_from_the_readme(self):
        text = (ROOT / "README.md").read_text()
        for page in DOCUMENTS[1:]:
            self.assertTrue(f"doc/{page.name}" in text, page.name)

    def test_the_readme_is_short(self):
        lines = (ROOT / "README.md").read_text().splitlines()
        self.assertLessEqual(len(lines), README_LINES)
        self.assertEqual([line for line in lines if len(line) > MOST_COLUMNS], [])

    def test_examples_are_run(self):
        """make tour renews every page that has commands; the files that these name are there."""
        with_commands = [str(page.relative_to(ROOT)) for page in DOCUMENTS if tour.commands_of(page.read_text())]
        self.assertEqual(sorted(tour.PAGES), sorted(with_commands))
        files = {path.name for folder in tour.FOLDERS for path in (ROOT / folder).iterdir()}
        files |= {pathlib.Path(path).name for path in tour.OTHERS}
        for page in tour.PAGES:
            for command in tour.commands_of((ROOT / page).read_text()):
                for name in re.findall(r"[\w-]+\.(?:c|cc|mk)\b", command):
                    self.assertIn(name, files, f"{page}: {command}")

    def test_examples_compile(self):
        for path in sorted((ROOT / "examples").iterdir()):
            compiler = ["gcc", "-fopenmp"] if path.suffix == ".c" else ["g++"]
            subprocess.run([*compiler, "-fsyntax-only", "-O2", "-Wall", "-Wextra", "-Werror", path], check=True)
