#!/usr/bin/env python3
"""Runs a command and ends, after it, all processes that descend from it, in whatever session they are.

usage: tests/subreaper.py PARENT COMMAND [ARGUMENT...]

PARENT is the process that calls this. The command leads a session of its own. Its orphans become children of this
process (PR_SET_CHILD_SUBREAPER), so it finds them all: a terminal's server and a profiler from outside leave the
session of the test that began them. On SIGTERM, or when the thread that began this ends, it ends the command, too. The
status is the command's, as a shell has it."""
import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def prctl(option, value):
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")


def children():
    """Of this process, those included that have ended and were not waited for."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                parent = file.read().rpartition(")")[2].split()[1]
        except OSError:  # it has ended meanwhile
            continue
        if int(parent) == os.getpid():
            yield int(name)


def end_descendants():
    """Each round ends the children. Theirs are the children of the next round."""
    while pids := list(children()):
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        for pid in pids:
            os.waitpid(pid, 0)


def main():
    parent, *command = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(parent):  # it has ended before it was watched
        return 128 + signal.SIGTERM
    try:
        child = os.posix_spawnp(command[0], command, os.environ, setsid=True,
                                setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])  # Python ignores these
        while (ended := os.wait())[0] != child:
            pass
        status = os.waitstatus_to_exitcode(ended[1])
        return status if status >= 0 else 128 - status
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        end_descendants()


if __name__ == "__main__":
    sys.exit(main())
