"""Shared by the tests of hpcprof: a folder with a made-up run for each test."""
import json
import os
import pathlib
import tempfile
import unittest

import measurement_writer as mw
from hpcprof_scenario import Scenario
from structure_model import F, L, P, S, Structure

SECONDS = 1024e9
WORK = {0: ("work", SECONDS)}

PROGRAM = Structure(F("/s/a.c", P("main", 1, [(0x1000, 0x1100)], S(2, (0x1000, 0x1010)),
                                  L(3, S(4, (0x1010, 0x1020)))),
                      P("leaf", 20, [(0x2000, 0x2100)], S(21, (0x2000, 0x2100)))))


def contents(folder):
    """{path: bytes, or the target of a link} of all files below a folder."""
    found = {}
    for top, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(top, name)
            if os.path.islink(path):
                found[os.path.relpath(path, folder)] = os.readlink(path)
            elif os.path.isfile(path):
                found[os.path.relpath(path, folder)] = pathlib.Path(path).read_bytes()
    return found


def differences(left, right):
    """The files that are not the same in two folders."""
    left, right = contents(left), contents(right)
    return [name for name in sorted(left.keys() | right.keys()) if left.get(name) != right.get(name)]


class HpcprofCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        os.chmod(folder.name, 0o755)  # hpcprof copies sources that everybody may read
        self.addCleanup(folder.cleanup)
        self.scenario = Scenario(folder.name)

    def process(self, module=None, **fields):
        """A process with a thread that has samples in the module."""
        process = self.scenario.process(**fields)
        process.metric("work", process.event("CPUTIME"))
        if module:
            thread, instance = process.thread(), self.scenario.load(process, module)
            for i, address in enumerate((0x1000, 0x1010)):
                self.scenario.sample(process, thread, [(instance, address), (instance, 0x2000)], 0,
                                     mw.seconds(2.0 ** i))
        return process

    def program(self):
        return self.scenario.binary("program", "abcd01", PROGRAM)

    def at(self, name):
        return self.scenario.at(name)

    def run_json(self):
        return json.loads(pathlib.Path(self.at("db/run.json")).read_text())

    def names(self):
        """The files that hpcprof wrote to the folder that it runs in."""
        return sorted(set(os.listdir(self.scenario.folder)) - {"bin", "cache", "program"})

    def assert_says(self, stderr, *parts):
        """One line of stderr has all the parts."""
        lines = [line for line in stderr.splitlines() if all(part in line for part in parts)]
        self.assertEqual(len(lines), 1, f"{parts} in:\n{stderr}")
