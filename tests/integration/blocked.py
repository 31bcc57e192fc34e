"""Whether a program has come to rest, without waiting for some time."""
import pathlib

# System calls that wait for a key, or for a program that was started: an argument of each and what it then is, the
# file or no limit of time. That of poll is an int; the kernel shows the whole register.
WAITS = {
    0: (0, 0),  # read
    7: (2, 0xffffffff),  # poll
    23: (4, 0),  # select
    61: None,  # wait4
    247: None,  # waitid
    270: (4, 0),  # pselect6
    271: (2, 0),  # ppoll
}


def is_blocked(pid):
    """Whether the process (its first thread) is off the CPU, in a call that only an event ends: a key or the end of
    another program. Behind an escape a terminal program waits some milliseconds for more; that is no rest."""
    process = pathlib.Path("/proc", str(pid))
    try:
        call, *arguments = process.joinpath("syscall").read_text().split()
    except PermissionError:  # a kernel that shows this to nobody
        return process.joinpath("stat").read_text().rsplit(")", 1)[1].split()[0] == "S"
    if not call.isdigit() or int(call) not in WAITS:  # "running", or "-1": not in a call
        return False
    index, value = WAITS[int(call)] or (0, None)
    return value is None or int(arguments[index], 16) & 0xffffffff == value


def times_blocked(pid):
    """How often the process has gone to sleep so far. If it is_blocked, that one is counted."""
    status = pathlib.Path("/proc", str(pid), "status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("voluntary_ctxt_switches"))
