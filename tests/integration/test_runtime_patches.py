"""runtime-patches/insert.py on made-up trees, and that our patches are what it reads."""
import os
import subprocess
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PATCHES = os.path.join(HERE, "..", "..", "runtime-patches")
INSERT = os.path.join(PATCHES, "insert.py")

PATCH = """# what it is for
file src/a.c
before int main(
| /* ours */
| @more.h
after return x;

|   /* unreachable */
file b.h
after #define B
| #define OURS
"""
A = "int x;\n\nint main(void)\n{\n  return x;\n}\n"
B = "#define B 1\n"
A_PATCHED = ("int x;\n\n/* ours */\nint y;\n\nint z;\nint main(void)\n{\n  return x;\n"
             "  /* unreachable */\n}\n")


class InsertTest(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.tree = os.path.join(folder, "tree")
        self.patch = os.path.join(folder, "a.patch")
        os.makedirs(os.path.join(self.tree, "src"))
        self.write(self.patch, PATCH)
        self.write(os.path.join(folder, "more.h"), "int y;\n\nint z;\n")
        self.set_tree(A, B)

    def write(self, path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def set_tree(self, a, b):
        self.write(os.path.join(self.tree, "src/a.c"), a)
        self.write(os.path.join(self.tree, "b.h"), b)

    def assert_tree(self, *expected):
        for name, text in zip(("src/a.c", "b.h"), expected):
            with open(os.path.join(self.tree, name), encoding="utf-8") as file:
                self.assertEqual(file.read(), text)

    def insert(self, *options, status=0, says=""):
        done = subprocess.run([INSERT, *options, self.patch, self.tree], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(says, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1 if status else 0)

    def test_there_and_back(self):
        self.insert()
        self.assert_tree(A_PATCHED, B + "#define OURS\n")
        self.insert("-R")
        self.assert_tree(A, B)

    def test_twice(self):
        self.insert()
        self.insert(status=1, says="src/a.c: the patch is there already")
        self.assert_tree(A_PATCHED, B + "#define OURS\n")

    def test_out_of_a_tree_without_it(self):
        self.insert("-R", status=1, says="the patch is not there")
        self.assert_tree(A, B)

    def test_a_tree_that_it_does_not_fit(self):
        """The last insertion doesn't fit: the first ones are not made."""
        for b, count in (("", 0), (B + B, 2)):
            self.set_tree(A, b)
            self.insert(status=1, says=f"b.h: the patch does not fit: {count} lines with '#define B'")
            self.assert_tree(A, b)

    def test_a_tree_without_a_file(self):
        os.remove(os.path.join(self.tree, "b.h"))
        self.insert(status=1, says="b.h: No such file or directory")
        self.assert_tree(A)

    def test_a_patch_that_is_none(self):
        self.write(self.patch, "file b.h\nafter #define B\nOURS\n")
        self.insert(status=1, says="a.patch:3: not a line of a patch: OURS")
        self.assert_tree(A, B)

    def test_all_our_patches_are_readable(self):
        """On an empty tree the first file is missing: no patch has a line that can't be read."""
        patches = [os.path.join(folder, name) for folder, _, names in os.walk(PATCHES)
                   for name in names if name.endswith(".patch")]
        self.assertTrue(patches)
        for self.patch in patches:
            self.insert(status=1, says="No such file or directory")
