"""Processes that could be lost: children that are made past libc, processes that may not write, full disks. Each is
measured, or counted with its reason, in the line that hpcprof prints and in the database."""
import itertools
import json
import os
import re
import shutil
import stat
import subprocess

import profiling
from profiling import FIRED, program

SOURCES = profiling.ROOT / "tests/programs/hpcrun"
EVENTS = ("CPUTIME", "CPUTIME@f5000", "REALTIME@f1000")


def name_of(event):
    return event.partition("@")[0]


class LostTest(profiling.ProfilingTest):
    def setUp(self):
        super().setUp()
        self.number = 0

    def hpcrun(self, *command, events=("CPUTIME",), options=(), user=None, status=0):
        """Runs the command, and hpcprof on its measurements."""
        self.number += 1
        self.m = self.directory / f"m{self.number}"
        done = self.run_tool(profiling.HPCRUN, "-o", self.m, *[word for event in events for word in ("-e", event)], *options,
                             *command, user=user, group=user, extra_groups=None if user is None else [])
        self.assertEqual(done.returncode, status, done.stderr)
        self.take_lines(done.stderr)
        return done

    def take_lines(self, stderr, statuses=(0,)):
        """What hpcrun printed at the end, what hpcprof said of the run, and what that says is missing."""
        self.lines = [line for line in stderr.splitlines() if line.startswith("hpcrun: ")]
        self.account = self.run_hpcprof(statuses)
        missing = [line.removeprefix("hpcprof: ") for line in self.account
                   if re.match(r"hpcprof: (not measured|measured in part): ", line)]
        self.assertLessEqual(len(missing), 1, self.account)
        self.missing = missing[0] if missing else ""

    def last_line(self):
        """Processes, samples, threads and partial paths: by hpcprof, if there is more to say than what hpcrun has printed."""
        lines = [line for line in self.account if " s wall, " in line] or self.lines
        line, = (line for line in lines if " s wall, " in line)
        match = re.search(r"(?:, (\d+) processes)?: (\d+) samples? of .* s wall, (\d+) threads?; \d+ dropped, (\d+) partial", line)
        return int(match[1] or 1), int(match[2]), int(match[3]), int(match[4])

    def images(self):
        images = profiling.read_measurements(self.m)
        for image in images:
            self.assertEqual(image.problems, [], image.path)
        return images

    def run_hpcprof(self, statuses):
        database = self.directory / f"db{self.number}"
        done = self.run_tool(profiling.BUILD / "bin" / "hpcprof", "-o", database, self.m,
                             env=dict(os.environ, XDG_CACHE_HOME=str(profiling.CACHE)))
        self.assertIn(done.returncode, statuses, done.stderr)
        return done.stderr.splitlines()

    def run_json(self):
        return json.loads((self.directory / f"db{self.number}" / "run.json").read_text())

    def unmeasured(self):
        return {entry["reason"]: entry["count"] for entry in self.run_json()["unmeasured"]}

    @staticmethod
    def users():
        return [None, profiling.ORDINARY_USER] if os.geteuid() == 0 else [None]


class BareForks(LostTest):
    MS = 50
    MS_BARE = 120  # more than hpcrun's last line reports as lost, and less than from one look at the CPU clock to the next
    ROUNDED = 0.001  # seconds in a line, which has milliseconds

    def run_child(self, how, end, event, *more, user=None):
        ms = self.MS_BARE if "bare" in end else self.MS
        done = self.hpcrun(program("bare_forks"), how, end, ms, *more, events=[event], user=user)
        pid, used, status = map(int, done.stdout.split())
        self.assertEqual(status, 5)
        return pid, used * 1e-9

    def check_measured(self, how, end, event, user):
        pid, used = self.run_child(how, end, event, user=user)
        images = [image for image in self.images() if image.pid == pid]
        if end == "exec":
            used, images = self.MS * 1e-3, images[1:]
        image, = images
        period = image.mean_period(name_of(event))
        counted = sum(t.wall for t in image.threads) if event.startswith("REALTIME") else image.cpu
        self.check_time(image.seconds(name_of(event), [FIRED]), used, counted, 1.5 * period * len(image.threads))
        self.assertEqual(self.missing, "measured in part: 1 ended by a bare system call "
                                       f"(bare_forks[{pid}])" if "bare" in end else "")
        everything = self.images()
        _, samples, threads, _ = self.last_line()
        self.assertEqual(samples, sum(i.count(name_of(event), [FIRED]) for i in everything))
        self.assertEqual(threads, sum(len(i.threads) for i in everything))

    def test_children_by_libc_s_functions(self):
        """syscall and clone are functions that can be hooked: such children are like those of fork. The last line has the
        samples of those that end by a bare system call, too."""
        ends = ("exit", "_exit", "syscall", "bare", "thread", "thread-bare", "exec", "vfork")
        ways = [*itertools.product(("fork", "function"), ends), ("function", "return"),
                *itertools.product(("clone", "clone3"), ("exit", "bare", "thread", "exec"))]
        for number, (how, end) in enumerate(ways):
            user, event = self.users()[number // 2 % len(self.users())], EVENTS[number % len(EVENTS)]
            with self.subTest(user=user, how=how, end=end, event=event):
                self.check_measured(how, end, event, user)

    def test_children_by_inlined_system_calls(self):
        """They are noticed at their first call of a hooked function: what comes before counts as time without samples."""
        for user in self.users():
            for how, event in zip(("inline", "inline-clone", "inline"), EVENTS):
                with self.subTest(user=user, how=how, event=event):
                    pid, used = self.run_child(how, "exit", event, user=user)
                    image, = (image for image in self.images() if image.pid == pid)
                    self.assertGreater(image.cpu, used)
                    self.assertLess(image.count(name_of(event), [FIRED]), 0.5 * used * 1000 + 2)
                    self.assertEqual((self.missing, self.last_line()[0]), ("", 2))
                    without, = (float(match[1]) for match in [re.search(r"([\d.]+) s CPU without samples", self.account[-1])])
                    self.assertGreater(without + self.ROUNDED, used)

    def test_a_thread_in_such_a_child(self):
        for event in EVENTS:
            with self.subTest(event=event):
                self.check_measured("inline", "thread", event, None)
                self.check_measured("inline-clone", "exec", event, None)

    def test_a_vfork_in_such_a_child(self):
        """The child of the vfork has the memory of one that is not noticed yet: it must not be taken for it."""
        pid, used = self.run_child("inline", "vfork", "CPUTIME")
        image, = (image for image in self.images() if image.pid == pid)
        self.assertEqual((image.state, self.missing), (1, ""))
        self.assertGreater(image.cpu, used)

    def test_a_wait_in_such_a_child(self):
        """Neither the wait nor a region is recorded: the child has no tree yet."""
        for event in EVENTS:
            with self.subTest(event=event):
                pid, used = self.run_child("inline", "waits", event)
                image, = (image for image in self.images() if image.pid == pid)
                self.assertEqual(image.state, 1)
                self.assertGreater(image.cpu, used)

    def lost_cpu(self, reason):
        match = re.fullmatch(rf"not measured: {reason} \(bare_forks(\[\d+\])?; ([\d.]+) s CPU\)", self.missing)
        self.assertTrue(match, self.missing)
        return float(match[2]) + self.ROUNDED

    def test_children_that_never_call_us(self):
        """Their parent knows that they were there; if it does not wait by libc, the kernel's sum of children's CPU time."""
        for number, event in enumerate(EVENTS):
            for more, reason, entry in (((), "1 left no record of itself", "left no record of itself"),
                                        (("bare",), *2 * ["children without a record, of these programs"])):
                user = self.users()[number % len(self.users())]
                with self.subTest(user=user, event=event, more=more):
                    _, used = self.run_child("inline", "bare", event, *more, user=user)
                    self.assertGreater(self.lost_cpu(reason), used)
                    unmeasured, = self.run_json()["unmeasured"]
                    self.assertEqual((unmeasured["reason"], unmeasured["count"]), (entry, 1))
                    self.assertGreater(unmeasured["cpu"], used)

    def test_a_child_that_shares_the_memory(self):
        for user in self.users():
            for end in ("_exit", "bare"):
                with self.subTest(user=user, end=end):
                    _, used = self.run_child("share", end, "CPUTIME", user=user)
                    self.assertGreater(self.lost_cpu("1 shares the memory of its parent"), used)
                    self.assertEqual(self.unmeasured(), {"shares the memory of its parent": 1})

    def test_beside_threads(self):
        """Whatever our locks are doing meanwhile, a child can end."""
        for how in ("fork", "function", "inline"):
            with self.subTest(how=how):
                done = self.hpcrun(program("bare_forks"), "threads", how, 300, options=["-q"])
                self.assertGreater(int(done.stdout), 0)


class Nested(LostTest):
    def test_hpcrun_in_hpcrun(self):
        """The inner one has the program; the outer one says so."""
        self.hpcrun(profiling.HPCRUN, "-o", self.directory / "inner", program("bare_forks"), "burn", 20, status=5)
        self.assertEqual(self.missing, "not measured: 1 measured by an hpcrun of its own (bare_forks)")
        self.assertEqual(len(self.images()), 1)
        self.assertEqual(self.unmeasured(), {"measured by an hpcrun of its own": 1})
        image, = profiling.read_measurements(self.directory / "inner")
        self.assertGreater(image.cpu, 0.02)

    def test_hpcrun_in_a_script(self):
        self.hpcrun("sh", "-c", '"$0" -q -o inner "$1" burn 50; "$1" burn 1; exit 0', profiling.HPCRUN, program("bare_forks"))
        self.assertRegex(self.missing, r"^not measured: 1 measured by an hpcrun of its own \(bare_forks; 0\.\d+ s CPU\)$")
        self.assertEqual(len([image for image in self.images() if image.executable.endswith("/bare_forks")]), 1)


# Changes its user (s), forbids itself to create files (l; status 3: the kernel can't), forks and goes on in the child (f),
# uses CPU time (b), executes /bin/true (x), or a shell that does (h).
RIGHTS = r"""
#include "burn.h"
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static int forbid_files(void)
{
    struct landlock_ruleset_attr rules = {.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG};
    int set = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules.handled_access_fs, 0);
    return set >= 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_landlock_restrict_self, set, 0) == 0;
}
int main(int count, char **arguments)
{
    for (const char *at = arguments[count - 1]; *at; at++) {
        if (*at == 's' && (setgid(65534) != 0 || setuid(65534) != 0))
            return 1;
        if (*at == 'l' && !forbid_files())
            return 3;
        pid_t child = *at == 'f' ? fork() : 0;
        int status = 0;
        if (child > 0)
            return waitpid(child, &status, 0) != child || status != 0;
        if (*at == 'b')
            burn(50000000);
        if (*at == 'x')
            execl("/bin/true", "true", (char *)NULL);
        if (*at == 'h' && system("/bin/true") != 0)
            return 1;
    }
    return 0;
}
"""


class ChangedRights(LostTest):
    def setUp(self):
        super().setUp()
        self.compile_text("rights", RIGHTS, "-O1", "-I", SOURCES)

    def run_rights(self, steps, event="CPUTIME", processes=1):
        self.hpcrun("./rights", steps, events=[event])
        self.assertEqual(self.last_line()[0], processes)
        modes = {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in self.m.iterdir() if not path.is_symlink()}
        self.assertEqual(modes, dict.fromkeys(modes, "0o600"))  # nothing became readable or writable for others
        return self.run_json()

    def check_bursts(self, run, event, burned):
        """burned: the CPU time, in bursts of 50 ms, of the processes by their beginning."""
        for process, bursts in zip(sorted(run["processes"], key=lambda p: (p["pid"])), burned):
            self.assertGreater(process["cpu"], 0.05 * bursts)
            if bursts:
                seen = sum(e["fates"]["recorded"]["amount"] for thread in process["threads"] for e in thread["events"])
                self.assertGreater(seen, 0.98 * 0.05 * bursts - 0.015)
            self.assertEqual(process["state"], "exit")

    def check_executed(self, *cases):
        why = "run by a user who may not write to the measurement directory"
        for steps, name, processes in cases:
            with self.subTest(steps=steps):
                run = self.run_rights(steps, processes=processes)
                self.assertEqual(self.missing, f"not measured: 1 {why} ({name})")
                self.assertEqual([(u["reason"], u["count"]) for u in run["unmeasured"]], [(why, 1)])
                self.assertEqual(len(self.lines), 1, self.lines)  # no line of a program that could not write


class Landlock(ChangedRights):
    """Programs that restrict which files they may open, as xz of Debian 13 does."""

    def setUp(self):
        super().setUp()
        if subprocess.run([self.directory / "rights", "l"]).returncode == 3:
            self.skipTest("the kernel has no Landlock")

    def test_files_that_it_may_not_open(self):
        """The program and its children."""
        for event in EVENTS:
            for steps, burned in (("lb", (1,)), ("blfb", (1, 1))):
                with self.subTest(event=event, steps=steps):
                    run = self.run_rights(steps, event, len(burned))
                    self.assertEqual((self.missing, run["unmeasured"], run["problems"]), ("", [], []))
                    self.check_bursts(run, event, burned)

    def test_programs_that_may_not_open_files_are_counted(self):
        self.check_executed(("lx", "true", 1), ("lfx", "true", 2))


class Rights(ChangedRights):
    """Programs that root starts and that become another user, who may not write to the directory."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("needs root, to change the user")

    def test_forks_are_measured(self):
        """Before and after the change, and forks of forks: through descriptors that were opened before the change."""
        for event in EVENTS:
            for steps, burned in (("sfb", (0, 1)), ("bsfb", (1, 1)), ("fsb", (0, 1)), ("fbsb", (0, 2)), ("sfffb", (0, 0, 0, 1)),
                                  ("fsfbfb", (0, 0, 1, 1))):
                with self.subTest(event=event, steps=steps):
                    run = self.run_rights(steps, event, len(burned))
                    self.assertEqual((self.missing, run["unmeasured"], run["problems"]), ("", [], []))
                    self.check_bursts(run, event, burned)

    def test_programs_that_it_executes_are_counted(self):
        self.check_executed(("sfx", "true", 2), ("bsx", "true", 1), ("fsx", "true", 2), ("sh", "sh", 1))

    def test_capabilities_that_an_exec_takes_away(self):
        """setpriv keeps root's capabilities until it executes the program."""
        setpriv = shutil.which("setpriv")
        if not setpriv:
            self.skipTest("setpriv is not installed")
        self.hpcrun(setpriv, "--reuid", profiling.ORDINARY_USER, "--clear-groups", "/bin/true")
        self.assertEqual(self.missing, "not measured: 1 run by a user who may not write to the measurement directory (true)")
        self.assertEqual(len(self.lines), 1, self.lines)

    def test_su(self):
        su = shutil.which("su")
        if not su:
            self.skipTest("su is not installed")
        try:
            subprocess.run([su, "nobody", "-s", "/bin/sh", "-c", "true"], check=True, capture_output=True, timeout=60)
        except (subprocess.SubprocessError, OSError):
            self.skipTest("su does not work here")
        self.hpcrun(su, "nobody", "-s", "/bin/sh", "-c", f"{program('bare_forks')} burn 50; exit 0")
        # PAM may ask a program of its own whether the account has expired.
        self.assertRegex(self.missing, r"^not measured: (1 setgid \(unix_chkpwd\), )?1 run by a user who may not write to "
                                       r"the measurement directory \(sh; 0\.\d+ s CPU\)$")
        self.assertEqual(len(self.lines), 1, self.lines)

    def test_what_the_changed_process_may_open(self):
        """Its descriptors are for what it writes itself: it can't open the files of the others through them."""
        script = ("import os\nos.fork() and os._exit(os.wait()[1])\nos.setgid(65534)\nos.setuid(65534)\nos.fork() and os._exit(os.wait()[1])\n"
                  "for fd in os.listdir('/proc/self/fd'):\n"
                  "    for how in os.O_RDONLY, os.O_WRONLY:\n"
                  "        try:\n            path = os.readlink(f'/proc/self/fd/{fd}')\n"
                  "            os.open(f'/proc/self/fd/{fd}', how)\n"
                  "            print(path)\n        except OSError:\n            pass\n"
                  "try:\n    print(os.listdir(os.environ['HPCRUN_DIR']))\nexcept OSError as error:\n    print(error.strerror)\n")
        python = os.path.realpath("/usr/bin/python3")
        if not os.path.exists(python):
            self.skipTest("no /usr/bin/python3")
        done = self.hpcrun(python, "-c", script, options=["-q"])
        self.assertNotIn(str(self.m), done.stdout)
        self.assertIn("Permission denied", done.stdout)


# Forks N children, one after the other, that use some CPU time; from the child number FROM on, the obstacle is there:
# the disk is full (PATH is a file that fills it), or the directory PATH can't be entered.
FORKS = r"""
#include "burn.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
static void fill(const char *path)
{
    static char block[4096];
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    for (size_t size = sizeof block; size > 0; size = size == sizeof block ? 1 : 0)
        while (write(fd, block, size) > 0)
            continue;
    close(fd);
}
int main(int count, char **arguments)
{
    int n = atoi(arguments[1]), from = atoi(arguments[2]);
    struct stat status;
    if (count != 5)
        return 2;
    for (int i = 0; i < n; i++) {
        if (i == from && strcmp(arguments[3], "disk") == 0)
            fill(arguments[4]);
        if (i == from && strcmp(arguments[3], "directory") == 0 && chmod(arguments[4], 0) != 0)
            return 1;
        pid_t child = fork();
        int how;
        if (child == 0) {
            burn(2000000);
            exit(0);
        }
        if (waitpid(child, &how, 0) != child || how != 0)
            return 1;
    }
    if (stat(arguments[4], &status) == 0 && S_ISDIR(status.st_mode))
        chmod(arguments[4], 0700);
    return 0;
}
"""


# Works at the ends of 100 call paths, which share few frames, four times; fills the disk with the file PATH before the
# last time. The tree has some 2,000 nodes, and grows no more then: each path ends in two instructions.
DEEP = r"""
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
static void spin(long rounds)
{
    __asm__ volatile("1: dec %0\njnz 1b" : "+r"(rounds));
}
static __attribute__((noinline)) void down(unsigned levels, unsigned path)
{
    if (levels == 0)
        spin(5000000);
    else if (path & 1)
        down(levels - 1, path >> 1);
    else
        down(levels - 1, path >> 1 ^ 1);
    __asm__ volatile("" ::: "memory");
}
int main(int count, char **arguments)
{
    static char block[4096];
    for (int turn = 0; turn < 4; turn++) {
        int fd = turn == 3 && count > 1 ? open(arguments[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
        for (size_t size = fd < 0 ? 0 : sizeof block; size > 0; size = size == sizeof block ? 1 : 0)
            while (write(fd, block, size) > 0)
                continue;
        for (unsigned i = 0, path = 1; i < 100; i++, path = path * 1103515245 + 12345)
            down(24, path >> 4);
    }
    return 0;
}
"""


class Obstacles(LostTest):
    def setUp(self):
        super().setUp()
        self.compile_text("forks", FORKS, "-O1", "-I", SOURCES)

    def run_forks(self, n, start, what, path, event, user=None, where=None, options=()):
        self.number += 1
        self.m = where or self.directory / f"m{self.number}"
        more = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        done = self.run_tool(profiling.HPCRUN, "-e", event, *options, "-o", self.m, self.directory / "forks", n, start, what, path or self.m, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.take_lines(done.stderr)
        self.lines = [line for line in self.lines if "CPUTIME uses" not in line]

    def check(self, n, why, in_part=""):
        """Every process is measured, or counted with the reason; nothing is printed for each. `in_part`: what is said of
        those that are measured in part."""
        match = re.fullmatch(rf"not measured: (\d+) could not be written: {why} \(forks; ([\d.]+) s CPU\){in_part}", self.missing)
        self.assertTrue(match, self.account)
        lost = int(match[1])
        unlisted = [int(line[1]) for line in (re.fullmatch(rf"hpcrun: (\d+) children are missing in the list of processes: {why}",
                                                           line) for line in self.lines) if line]
        self.assertEqual(self.last_line()[0] + lost + sum(unlisted), n + 1)
        self.assertGreaterEqual(float(match[2]), 0.0019 * (lost - 1))
        self.assertLessEqual(len(self.lines), 4, self.lines[:10])
        return lost + sum(unlisted)

    def test_a_full_disk(self):
        """On a file system that is hardly larger than the list of these processes. Without time lines, the parent's file
        fits into the block that it has."""
        small = self.small_file_system("256k")
        for event in EVENTS:
            with self.subTest(event=event):
                where = small / f"m-{event}"
                self.run_forks(300, 20, "disk", small / "filler", event, where=where, options=("--trace", "off"))
                self.assertGreater(self.check(300, "No space left on device"), 200)
                (small / "filler").unlink()
                (reason, count), = self.unmeasured().items()  # those that the list had room for, and the parent
                self.assertEqual(reason, "could not be written: No space left on device")
                self.assertGreater(count, 100)
                shutil.rmtree(where)

    def test_a_full_disk_with_time_lines(self):
        """The parent's time line does not fit on the disk. That is a loss, not damage: hpcprof's status is 0. Its times are
        lost, too: the rate is that of the others. Samples are at least half a period apart."""
        small, full = self.small_file_system("256k"), "No space left on device"
        self.run_forks(300, 20, "disk", small / "filler", "REALTIME@f1000", where=small / "m")
        self.check(300, full, rf"; measured in part: 1 {full} \(forks\[\d+\]\)")
        self.assertIn(f"{full}: a part of the measurement could not be written", self.lines[0])
        rate, = re.findall(r"([\d.]+)/s\)", self.account[0])
        self.assertLessEqual(float(rate), 2000, self.account)

    def test_a_directory_that_is_closed(self):
        """The list can't be written either: the parent keeps what it knows of its children, and writes it later if it can."""
        user = profiling.ORDINARY_USER if os.geteuid() == 0 else None
        for event in EVENTS:
            with self.subTest(event=event):
                self.run_forks(30, 10, "directory", None, event, user=user)
                self.assertEqual((self.last_line()[0], len(self.lines)), (11, 1), self.lines)
                self.assertRegex(self.missing, r"^not measured: 20 left no record of itself \(forks; [\d.]+ s CPU\)$")
                self.assertEqual(self.unmeasured(), {"left no record of itself": 20})

    def test_a_disk_that_is_full_at_the_end(self):
        """There is no room for the tree in the measurement file: the arena file, whose blocks were allocated before, stays."""
        small = self.small_file_system("24m")
        deep = self.compile_text("deep", DEEP, "-O1", "-fno-optimize-sibling-calls", "-I", SOURCES)
        self.m = small / "m"
        done = self.run_tool(profiling.HPCRUN, "-e", "CPUTIME@f5000", "-o", self.m, deep, small / "filler")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.take_lines(done.stderr)
        self.lines = [line for line in self.lines if "CPUTIME uses" not in line]
        self.assertEqual(len(self.lines), 1, self.lines)
        self.assertTrue(list(self.m.glob("*.arenas")))
        run = self.run_json()
        process, = run["processes"]
        self.assertEqual((process["state"], process["recovered"], process["missing_at_most"], process["write_error"]),
                         ("exit", 1, 0, None))
        self.assertEqual(process["samples"], self.last_line()[1])
        self.assertGreater(process["samples"], 100)

    def test_a_limit_of_file_sizes(self):
        """What is missing is everything, not the last 0.0 s; a child that cannot even say so is known by its parent."""
        for user, events in zip(self.users(), (EVENTS[1:], EVENTS[:1])):
            more = {} if user is None else {"user": user, "group": user, "extra_groups": []}
            for event in events:
                with self.subTest(user=user, event=event):
                    self.number += 1
                    self.m = self.directory / f"m{self.number}"
                    done = self.run_tool("sh", "-c", 'ulimit -f 1; exec "$@" 2>&1 | cat', "sh", profiling.HPCRUN, "-e", event, "-o",
                                         self.m, program("bare_forks"), "burn", 100, **more)
                    self.assertIn("File too large: the measurement could not be written", done.stdout)
                    # 0 if the limit is by chance the end of a chunk, so that nothing is damaged.
                    self.run_hpcprof(statuses=(0, 1))
                    process, = self.run_json()["processes"]
                    self.assertEqual((process["state"], process["write_error"], process["data_until"]), ("exit", "File too large", 0))
                    self.assertGreaterEqual(process["missing_at_most"], 0.1)
                    self.hpcrun("sh", "-c", '(ulimit -f 0; "$0" burn 100; exit 0) 2>&1 | cat; "$0" burn 1; exit 0',
                                program("bare_forks"), events=[event], user=user)
                    # With a sample before the limit, its data up to there was written.
                    match = re.search(r"1 ended by a bare system call (?:before anything was written \((?:sh|dash|bash); ([\d.]+) s CPU\)|"
                                      r"\((?:sh|dash|bash)\[\d+\])", self.missing)
                    self.assertTrue(match, self.missing)
                    self.assertGreater(float(match[1] or 1), 0.1)
