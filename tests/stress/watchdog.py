"""Runs a command, and where it hangs says what every thread of it was doing, and ends it.

A run's processes are the command, all that came of it, and what of these went to a session or a parent of
its own: every process of a run has a word in its environment that no other run has. One whose environment
is its own doing is found by its session or its parent."""
import os
import pathlib
import subprocess
import uuid

MARK = "STRESS_WATCHDOG_RUN"
GDB = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", "-ex", "set pagination off",
       "-ex", "thread apply all bt 40"]
GDB_SECONDS = 60
MOST_PROCESSES = 16  # of which stacks are shown


class Hung(Exception):
    """Its text is the report: all threads of all processes of the run."""


class Run:
    """A command that runs. Takes what Popen takes."""

    def __init__(self, words, env=None, **options):
        self.mark = f"{MARK}={uuid.uuid4()}"
        environment = dict(os.environ if env is None else env)
        environment[MARK] = self.mark.partition("=")[2]
        self.process = subprocess.Popen([str(word) for word in words], env=environment, start_new_session=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        **options)

    def finish(self, limit):
        """The command's status, output and errors, when all that writes them has ended. Raises Hung when it
        has not after so many seconds; then none of its processes is left."""
        try:
            out, errors = self.process.communicate(timeout=limit)
            return self.process.returncode, out, errors
        except subprocess.TimeoutExpired:
            report = self.report()
            self.kill()
            self.process.communicate()
            raise Hung(f"no end after {limit:.0f} s\n{report}") from None

    def processes(self):
        """The run's processes that have not ended, in the order of their numbers."""
        found, parents = set(), {}
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdecimal() and (fields := stat_fields(entry)) and fields[0] not in "ZX":
                pid = int(entry.name)
                parents[pid] = int(fields[1])
                if int(fields[3]) == self.process.pid or self.has_mark(entry):
                    found.add(pid)
        while more := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= more
        return sorted(found)

    def has_mark(self, entry):
        return f"\0{self.mark}\0".encode() in b"\0" + read(entry / "environ")

    def report(self):
        processes = self.processes()
        lines = [f"{len(processes)} processes"]
        for pid in processes[:MOST_PROCESSES]:
            lines += describe(pid)
        return "\n".join(lines)

    def kill(self):
        """Until none is left: they may make new ones meanwhile."""
        while processes := self.processes():
            for pid in processes:
                try:
                    os.kill(pid, 9)
                except ProcessLookupError:
                    pass
            self.process.poll()


def read(path):
    """What a file says of a process that may be gone."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def stat_fields(entry):
    """The state, parent, group, session ... of a process; its name, before them, may hold anything."""
    return read(entry / "stat").rpartition(b")")[2].decode().split()


def describe(pid):
    """The lines about a process: what the kernel says of its threads, and their stacks."""
    entry = pathlib.Path("/proc") / str(pid)
    lines = ["", f"process {pid}: {read(entry / 'cmdline').replace(bytes(1), b' ').decode(errors='replace')}"]
    for task in sorted((entry / "task").iterdir(), key=lambda path: int(path.name)) if entry.exists() else []:
        status = dict(line.split(":\t", 1) for line in read(task / "status").decode(errors="replace").splitlines()
                      if ":\t" in line)
        lines.append(f"  thread {task.name} {status.get('Name')}: {status.get('State')}, traced by {status.get('TracerPid')}")
        lines += [f"    {name} {status.get(name)}" for name in ("SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt")]
        lines.append(f"    in {read(task / 'wchan').decode() or '?'}, system call {read(task / 'syscall').decode().strip() or '?'}")
    return lines + ["  " + line for line in stacks(pid)]


def stacks(pid):
    """What gdb sees of a process's threads; a reason where it can't look."""
    try:
        done = subprocess.run([*GDB, "-p", str(pid)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=GDB_SECONDS)
        return done.stdout.splitlines()
    except (OSError, subprocess.TimeoutExpired) as error:
        return [f"no stacks: {error}"]
