"""What the tests of logical call paths, idleness and overhead share: a program's way through hpcrun,
hpcprof and hpcviewer, and the tree that comes out."""
import json
import sys

import profiling

TOOLS = profiling.BUILD / "bin"

# Trees are as deep as call paths: a sample of node's own recursion has been seen with hundreds of frames.
sys.setrecursionlimit(10000)


def walk(node):
    """The path to each node, in preorder."""
    open_paths = [(node,)]
    while open_paths:
        path = open_paths.pop()
        yield path
        open_paths += [path + (child,) for child in reversed(path[-1].get("children", ()))]


def procedures(path):
    return [node["name"] for node in path if node["kind"] == "procedure"]


class LogicalTest(profiling.ProfilingTest):
    """A test that takes a program through the whole chain."""

    def view(self, *options, view="top-down"):
        done = self.run_tool(TOOLS / "hpcviewer", "--print", view, "--format", "json", *options,
                             self.database)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def profile(self, *command, **how):
        done, images = self.measure(*command, **how)
        self.check_fates(images)
        self.analyse()
        return done, images

    def analyse(self):
        """Makes a database of what was measured last, and reads its tree."""
        self.make_database()
        self.tree = self.view()["root"]

    def value(self, metric, name):
        """The inclusive value of all calls of a procedure."""
        return sum(path[-1]["metrics"][metric]["inclusive"] for path in walk(self.tree)
                   if path[-1]["kind"] == "procedure" and path[-1]["name"] == name)

    def sampled_paths(self):
        """The procedures of every context that something was measured in."""
        return {tuple(procedures(path)) for path in walk(self.tree)
                if any(m["exclusive"] for m in path[-1]["metrics"].values() if m)}
