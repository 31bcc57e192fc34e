#!/usr/bin/env python3
"""Runs the test suite in other environments, one after the other, and prints a line for each:

    no-perf       1481 passed, 0 failed, 13 skipped in 10.4 minutes

usage: tests/environments.py BUILD [--names 'NAME...'] [WAY...]

    no-perf       perf_event_open is refused, as in most containers
    no-terminal   in a session of its own, with standard input closed
    one-cpu       bound to one CPU
    many-cpus     told that there are 16 CPUs, of which others use all but the real ones (tests/pretend_cpus.py;
                  needs root)
    ordinary-user as nobody, in a copy of the tree that belongs to nobody (needs root)
    blanks        in a copy whose path has blanks
    twice         in two copies at once
    locale        in German, with umask 077 and a HOME that does not exist

NAMES are those of tests/run.py. A way that can't be tried here is skipped with its reason. Reports are in
BUILD/environments/WAY.log; the status is 1 if a test failed in any of them."""
import argparse
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from tree_copy import copy_sources

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOBODY = 65534
PLAIN_PATH = "/usr/local/bin:/usr/bin:/bin"


class CannotTry(Exception):
    """Why a way can't be tried here."""


class Suite:
    """One run of the suite that is under way."""

    def __init__(self, log, command, where, **options):
        self.log = log
        with open(log, "wb") as out:
            self.process = subprocess.Popen(command, cwd=where, stdout=out, stderr=subprocess.STDOUT,
                                            start_new_session=True, **options)

    def finish(self):
        """(passed, failed, skipped); a run that ends without a report counts as a failure."""
        self.process.wait()
        lines = self.log.read_text(errors="replace").splitlines()
        for line in reversed(lines):
            found = re.fullmatch(r"(\d+) passed, (\d+) failed, (\d+) skipped", line)
            if found:
                return tuple(map(int, found.groups()))
        return 0, 1, 0


class Ways:
    """Each method starts the suite in one way and returns the runs."""

    def __init__(self, build, names, stack):
        self.build, self.names, self.stack = build, names, stack
        self.logs = build / "environments"
        self.logs.mkdir(exist_ok=True)

    def here(self, way, *prefix, **options):
        """The suite in this tree, behind a prefix."""
        command = [*prefix, ROOT / "tests" / "run.py", self.build, *self.names]
        return [Suite(self.logs / f"{way}.log", command, ROOT, **options)]

    def folder(self):
        return pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="hpctest-tree-")))

    def copy(self, folder):
        """A copy of the tree without builds."""
        copy_sources(folder)
        return folder

    def there(self, log, tree, **options):
        """Build and suite in a copy of the tree."""
        command = ["make", f"-j{len(os.sched_getaffinity(0))}", "check", f"T={' '.join(self.names)}"]
        return Suite(self.logs / f"{log}.log", command, tree, stdin=subprocess.DEVNULL, **options)

    def no_perf(self):
        return self.here("no-perf", self.build / "tests" / "tools" / "deny-perf")

    def no_terminal(self):
        return self.here("no-terminal", "sh", "-c", 'exec "$@" <&-', "sh")

    def one_cpu(self):
        return self.here("one-cpu", "taskset", "-c", str(min(os.sched_getaffinity(0))))

    def many_cpus(self):
        if os.geteuid() != 0:
            raise CannotTry("needs root, for a mount namespace")
        return self.here("many-cpus", ROOT / "tests" / "pretend_cpus.py", "16")

    def ordinary_user(self):
        if os.geteuid() != 0:
            raise CannotTry("needs root, to become nobody")
        folder = self.folder()
        tree, home = self.copy(folder / "hpctoolkit"), folder / "home"
        home.mkdir()
        subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", folder], check=True)
        environment = {"PATH": PLAIN_PATH, "HOME": str(home), "LANG": "C.UTF-8"}
        return [self.there("ordinary-user", tree, env=environment, user=NOBODY, group=NOBODY, extra_groups=[])]

    def blanks(self):
        return [self.there("blanks", self.copy(self.folder() / "a path with blanks"))]

    def twice(self):
        return [self.there(f"twice-{i}", self.copy(self.folder() / "hpctoolkit")) for i in (1, 2)]

    def locale(self):
        places = self.folder()
        made = shutil.which("localedef") and subprocess.run(
            ["localedef", "-i", "de_DE", "-f", "UTF-8", places / "de_DE.UTF-8"], capture_output=True).returncode == 0
        if not made:
            raise CannotTry("localedef can't make de_DE.UTF-8: install the package locales")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG"))}
        environment.update(LOCPATH=str(places), LC_ALL="de_DE.UTF-8", HOME=str(places / "home"))
        return self.here("locale", env=environment, umask=0o077)


WAYS = ("no-perf", "no-terminal", "one-cpu", "many-cpus", "ordinary-user", "blanks", "twice", "locale")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("ways", nargs="*", default=WAYS)
    parser.add_argument("--names", type=str.split, default=[])
    options = parser.parse_intermixed_args()
    bad = False
    for way in options.ways or WAYS:
        started = time.monotonic()
        with contextlib.ExitStack() as stack:
            try:
                runs = getattr(Ways(options.build.resolve(), options.names, stack), way.replace("-", "_"))()
            except CannotTry as why:
                print(f"{way:13} skipped: {why}", flush=True)
                continue
            passed, failed, skipped = map(sum, zip(*(run.finish() for run in runs)))
        print(f"{way:13} {passed} passed, {failed} failed, {skipped} skipped in "
              f"{(time.monotonic() - started) / 60:.1f} minutes", flush=True)
        if failed or not passed:
            bad = True
            print(f"{'':13} see {' and '.join(str(run.log) for run in runs)}", flush=True)
    return bad


if __name__ == "__main__":
    sys.exit(main())
