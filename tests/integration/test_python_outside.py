"""Python programs that are measured from outside: the agent reads the process while that runs on. Paths are right, or
partial."""
import unittest

import profiling
from test_python import PYTHON, SOURCES, Python

@unittest.skipUnless(profiling.outside_is_allowed(), "perf_event_open is not permitted here")
class Outside(Python):
    def test_each_function_is_below_the_one_that_called_it(self):
        """Functions that run for microseconds, and whose code is soon freed: complete paths are as their names say."""
        self.profile(PYTHON, SOURCES / "chains.py", 40, 2, events=("CPUTIME@f2000",), options=["--outside"])
        complete = [path for path in self.sampled_paths() if "<partial call path>" not in path and self.made(path)]
        for path in complete:
            made = self.made(path)
            for i, name in enumerate(made):
                self.assertEqual(name, "_".join(made[-1].split("_")[:i + 1]), path)
            if path[-1] == "burn":
                self.assertEqual(len(made), 5, path)
        self.assertIn("burn", {path[-1] for path in complete})

    def test_functions_that_take_long(self):
        """Their paths are those of the source."""
        code = ("def leaf(n):\n  for i in range(n): pass\ndef left(): leaf(3000000)\ndef right(): leaf(3000000)\n"
                "for _ in range(4): left(), right()")
        self.profile(PYTHON, "-c", code, options=["--outside"])
        below = {path[path.index("<module>") + 1:] for path in self.sampled_paths()
                 if "<module>" in path and {"left", "right"} & set(path)}
        self.assertLessEqual({("left", "leaf"), ("right", "leaf")}, below)
        self.assertLessEqual(below, {("left",), ("right",), ("left", "leaf"), ("right", "leaf")})

    def test_no_agent(self):
        self.profile(PYTHON, "-c", "sum(i for i in range(3000000))", options=["--outside", "--agent", "none"])
        self.assertNotIn("<module>", {name for path in self.sampled_paths() for name in path})
