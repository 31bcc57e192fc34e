#!/usr/bin/env python3
"""Runs a command that believes to be on a machine with N CPUs, of which all but the real ones are busy with others:
as in a container with a quota on a larger machine.

usage: tests/pretend_cpus.py N COMMAND...

sched_getaffinity and sched_setaffinity of the command, and of all that it starts, are answered here (seccomp's user
notifications). The CPUs that a thread may use are kept here; the kernel is told a real CPU for each. A thread that has
not set its own has those that its process had when it asked first, and a process those of its parent. Who sets one
CPU that does not exist gets a real one. Numbers of CPUs in /proc/cpuinfo and /sys/devices/system/cpu agree; /proc/stat
has only the real ones. Needs root, for a mount namespace. Ends with the command's status."""
import ctypes
import errno
import fcntl
import os
import pathlib
import platform
import re
import select
import socket
import struct
import sys
import tempfile

LIBC = ctypes.CDLL(None, use_errno=True)

# <asm/unistd_64.h>, <linux/seccomp.h>, <linux/filter.h>, <linux/prctl.h>
SYS_SCHED_SETAFFINITY, SYS_SCHED_GETAFFINITY, SYS_SECCOMP = 203, 204, 317
SECCOMP_SET_MODE_FILTER, NEW_LISTENER, RET_USER_NOTIF, RET_ALLOW = 1, 8, 0x7fc00000, 0x7fff0000
NOTIF_RECV, NOTIF_SEND = 0xc0502100, 0xc0182101
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 0x1000, 0x4000, 0x40000

NOTIFICATION = struct.Struct("=QIIiIQ6Q")  # id, pid, flags, nr, arch, instruction pointer, arguments
RESPONSE = struct.Struct("=QqiI")  # id, value, error, flags


def check(value):
    if value < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return value


def install_filter():
    """In the child. Returns the listener's descriptor, which exec closes."""
    code = [(LOAD_WORD, 0, 0, 0), (JUMP_IF_EQUAL, 1, 0, SYS_SCHED_SETAFFINITY),
            (JUMP_IF_EQUAL, 0, 1, SYS_SCHED_GETAFFINITY), (RETURN, 0, 0, RET_USER_NOTIF), (RETURN, 0, 0, RET_ALLOW)]
    instructions = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in code))
    program = struct.pack("=H6xQ", len(code), ctypes.addressof(instructions))
    return check(LIBC.syscall(SYS_SECCOMP, SECCOMP_SET_MODE_FILTER, NEW_LISTENER, program))


def mount(source, target, flags):
    check(LIBC.mount(os.fsencode(source), os.fsencode(target), None, flags, None))


def replace_files(n):
    """In the child, which then sees other files than the rest of the machine."""
    check(LIBC.unshare(CLONE_NEWNS))
    mount("none", "/", MS_REC | MS_PRIVATE)
    described = pathlib.Path("/proc/cpuinfo").read_text().split("\n\n")
    cpus = [re.sub(r"(?m)^(processor|apicid|initial apicid|core id)(\s*): \d+$", rf"\1\2: {cpu}",
                   described[0]) for cpu in range(n)]
    folder = pathlib.Path("/sys/devices/system/cpu")
    texts = {"/proc/cpuinfo": "".join(cpu + "\n\n" for cpu in cpus)}
    texts.update({folder / name: f"0-{n - 1}\n" for name in ("online", "present", "possible")})
    for target, text in texts.items():
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), 0o444)
            mount(file.name, target, MS_BIND)


class Threads:
    """The CPUs that each thread may use: sets of numbers below n."""

    def __init__(self, n):
        self.all, self.real, self.masks = frozenset(range(n)), sorted(os.sched_getaffinity(0)), {}

    @staticmethod
    def status(tid):
        """Its process and its parent process."""
        lines = pathlib.Path(f"/proc/{tid}/status").read_text(errors="replace").splitlines()
        fields = dict(line.split(":", 1) for line in lines)
        return int(fields["Tgid"]), int(fields["PPid"])

    @staticmethod
    def key(tid):
        """Numbers are used again, but not with the same start."""
        stat = pathlib.Path(f"/proc/{tid}/stat").read_text(errors="replace")
        return tid, stat.rsplit(")", 1)[1].split()[19]

    def mask(self, tid):
        if tid <= 1 or tid == os.getpid():
            return self.all
        try:
            key = self.key(tid)
            if key not in self.masks:
                process, parent = self.status(tid)
                self.masks[key] = self.mask(process if process != tid else parent)
            return self.masks[key]
        except FileNotFoundError:  # it has ended
            return self.all

    def set_mask(self, tid, cpus):
        cpus &= self.all
        if not cpus:
            raise OSError(errno.EINVAL, "")
        real = {self.real[cpu % len(self.real)] for cpu in cpus}
        os.sched_setaffinity(tid, real)
        self.masks[self.key(tid)] = frozenset(real) if len(cpus) == 1 else cpus


class Memory:
    """That of a thread which waits for an answer."""

    def __init__(self, tid):
        self.fd = os.open(f"/proc/{tid}/mem", os.O_RDWR | os.O_CLOEXEC)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)

    def read(self, address, size):
        return os.pread(self.fd, size, address)

    def write(self, address, data):
        os.pwrite(self.fd, data, address)


def answer(threads, caller, call, arguments):
    """What the system call returns."""
    size, address = arguments[1] & 0xffffffff, arguments[2]
    tid = ctypes.c_int(arguments[0] & 0xffffffff).value or caller
    with Memory(caller) as memory:
        if call == SYS_SCHED_SETAFFINITY:
            bits = int.from_bytes(memory.read(address, min(size, 128)), "little")
            threads.set_mask(tid, frozenset(cpu for cpu in range(8 * min(size, 128)) if bits >> cpu & 1))
            return 0
        size_needed = (len(threads.all) + 63) // 64 * 8
        if size < size_needed or size % 8:
            raise OSError(errno.EINVAL, "")
        os.kill(tid, 0)
        memory.write(address, sum(1 << cpu for cpu in threads.mask(tid)).to_bytes(size_needed, "little"))
        return size_needed


def answer_one(listener, threads):
    buffer = bytearray(NOTIFICATION.size)
    try:
        fcntl.ioctl(listener, NOTIF_RECV, buffer)
    except OSError:  # the thread was killed, or a signal came first: it will ask again
        return
    identity, caller, _, call, _, _, *arguments = NOTIFICATION.unpack(buffer)
    value, error = 0, 0
    try:
        value = answer(threads, caller, call, arguments)
    except OSError as why:
        error = -(errno.EFAULT if why.errno == errno.EIO else why.errno)
    try:
        fcntl.ioctl(listener, NOTIF_SEND, RESPONSE.pack(identity, value, error, 0))
    except OSError:
        pass


def run_child(to_parent, n, command):
    try:
        replace_files(n)
        socket.send_fds(to_parent, [b"x"], [install_filter()])
        os.execvp(command[0], command)
    except OSError as why:
        print(f"pretend_cpus.py: {command[0]}: {why.strerror}", file=sys.stderr, flush=True)
    os._exit(127)


def main():
    if len(sys.argv) < 3 or not sys.argv[1].isdecimal() or not 0 < int(sys.argv[1]) <= 1024:
        sys.exit(__doc__)
    if platform.machine() != "x86_64":
        sys.exit("pretend_cpus.py: only on x86-64")
    threads, (ours, theirs) = Threads(int(sys.argv[1])), socket.socketpair()
    child = os.fork()
    if child == 0:
        run_child(theirs, len(threads.all), sys.argv[2:])
    theirs.close()
    _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
    ended = os.pidfd_open(child)
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    for listener in descriptors:
        poll.register(listener, select.POLLIN)
    while True:
        ready = [fd for fd, events in poll.poll() if events & select.POLLIN]
        for listener in set(ready) & set(descriptors):
            answer_one(listener, threads)
        if ended in ready:
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    status = main()
    sys.exit(status if status >= 0 else 128 - status)
