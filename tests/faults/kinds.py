# SPDX-License-Identifier: MIT
"""The kinds of faults. A kind gives the runs of a command that have one: a label, and a function that makes the run."""

import functools
import os
import re
import shutil
import subprocess
import tempfile

from run import Run

MIB = 1024  # in units of ulimit


class Allocation:
    """The n-th allocation fails, by fail_allocation.so; in_program: of the program that gtrace-record starts."""

    def __init__(self, in_program):
        self.inside = [("FAULT_IN", "program")] if in_program else []
        self.in_program = in_program

    def faults(self, command, folder, options):
        if self.in_program and command[0] != "gtrace-record":
            return
        preload = [("LD_PRELOAD", os.path.join(options.preload, "fail_allocation.so")), *self.inside]
        with tempfile.NamedTemporaryFile("r", dir=folder) as count:
            Run(command, folder, environment=[*preload, ("FAULT_COUNT", count.name)])
            n = int(count.read() or 0)
        for at in spread(0, n, options.most):
            yield "%d of %d" % (at, n), functools.partial(Run, command, folder, environment=[*preload, ("FAULT_AT", str(at))])


def strace(command, *rest):
    return ["strace", "-qq", *(["-f"] if command[0] == "gtrace-record" or "-j" in command else []), "-e", "signal=none", *rest]


@functools.cache
def system_calls(command, folder):
    """The process and the name of each system call of a command that some kind lets fail, and of each munmap, in their order."""
    calls = ",".join(["munmap", *(kind.calls for kind in KINDS.values() if isinstance(kind, Call))])
    with tempfile.NamedTemporaryFile("r", dir=folder) as log:
        Run(list(command), folder, prefix=strace(command, "-o", log.name, "-e", "trace=" + calls))
        return re.findall(r"^(\d+ +|)(\w+)\(", log.read(), re.M)


class Call:
    """The n-th system call of a kind fails with an error, by strace."""

    def __init__(self, calls, error):
        self.calls, self.error = calls, error

    def counts(self, command, folder):
        """Of each process, how many of these calls the loader makes, whose last act is to unmap its cache, and how many there are in all."""
        wanted, calls = self.calls.split(","), {}
        for process, name in system_calls(tuple(command), folder):
            calls.setdefault(process, []).append(name)
        return [(sum(name in wanted for name in names[:names.index("munmap") if "munmap" in names else 0]), sum(name in wanted for name in names))
                for names in calls.values()]

    def faults(self, command, folder, options):
        counts = self.counts(command, folder)
        n = max((every for _, every in counts), default=0)
        for at in spread(min((loader for loader, _ in counts), default=0), n, options.most):
            if not any(loader < at <= every for loader, every in counts):
                continue
            inject = "inject=%s:error=%s:when=%d" % (self.calls, self.error, at)
            prefix = strace(command, "-o", "/dev/null", "-e", "trace=" + self.calls, "-e", inject)
            yield "%d of %d" % (at, n), functools.partial(Run, command, folder, prefix=prefix)


class Short:
    """All transfers are of a few bytes."""

    must_pass = True

    def faults(self, command, folder, options):
        preload = [("LD_PRELOAD", os.path.join(options.preload, "short_transfers.so"))]
        yield "all", functools.partial(Run, command, folder, environment=preload)


class Limit:
    """A limit of the shell's ulimit, by its letter."""

    def __init__(self, letter, values):
        self.letter, self.values = letter, values

    def faults(self, command, folder, options):
        for value in [self.values[i - 1] for i in spread(0, len(self.values), options.most)]:
            prefix = ["bash", "-c", 'ulimit -%s %d && exec "$@"' % (self.letter, value), "bash"]
            yield "ulimit -%s %d" % (self.letter, value), functools.partial(Run, command, folder, prefix=prefix)


class Temporary:
    """TMPDIR is no folder where files can be made; or, by a command that mounts it, one of a page that is full, or read-only."""

    FULL = 'mount -t tmpfs -o size=4k,nr_inodes=100 none "$TMPDIR" && head -c 4096 /dev/zero >"$TMPDIR/full"'
    READ_ONLY = 'mount -t tmpfs -o ro none "$TMPDIR"'

    def __init__(self, mount=None):
        self.mount = mount

    def faults(self, command, folder, options):
        if not self.mount:
            for path in ("/proc", "/nonexistent"):
                yield "TMPDIR=" + path, functools.partial(Run, command, folder, environment=[("TMPDIR", path)])
        elif may_mount():
            mounted = os.path.join(folder, "mounted")
            os.makedirs(mounted, exist_ok=True)
            prefix = ["unshare", "-m", "sh", "-c", self.mount + ' && exec "$@"', "sh"]
            yield self.mount, functools.partial(Run, command, folder, prefix=prefix, environment=[("TMPDIR", mounted)])


class WithoutProc:
    """/proc is an empty folder: where programs and GPU descriptions are is found otherwise."""

    must_pass = True

    def faults(self, command, folder, options):
        if may_mount():
            prefix = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
            yield "all", functools.partial(Run, command, folder, prefix=prefix)


@functools.lru_cache(maxsize=None)
def may_mount():
    return subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode == 0


def spread(before, n, most):
    """The numbers from before + 1 to n, or `most` of them."""
    if most == 0 or n - before <= most:
        return range(before + 1, n + 1)
    return sorted({before + 1 + i * (n - before - 1) // max(most - 1, 1) for i in range(most)})


KINDS = {
    "malloc": Allocation(False),
    "malloc-in-program": Allocation(True),
    "read": Call("read", "EIO"),
    "read-interrupted": Call("read", "EINTR"),
    "write": Call("write", "ENOSPC"),
    "write-interrupted": Call("write", "EINTR"),
    "write-at": Call("pwrite64", "ENOSPC"),
    "read-at": Call("pread64", "EIO"),
    "send": Call("sendto", "ENOBUFS"),
    "receive": Call("recvfrom", "EIO"),
    "seek": Call("lseek", "EIO"),
    "open": Call("openat", "EMFILE"),
    "mmap": Call("mmap", "ENOMEM"),
    "fork": Call("clone,clone3,vfork,fork", "EAGAIN"),
    "short": Short(),
    "address-space": Limit("v", [n * MIB for n in (16, 20, 24, 28, 32, 40, 48, 64, 96, 128, 192, 256, 512, 1024, 2048, 8192, 65536)]),
    "descriptors": Limit("n", list(range(3, 24))),
    "file-size": Limit("f", [0, 1, 2, 4, 8, 16, 64, 256]),
    "no-tmpdir": Temporary(),
    "full-tmpdir": Temporary(Temporary.FULL),
    "read-only-tmpdir": Temporary(Temporary.READ_ONLY),
    "no-proc": WithoutProc(),
}


def needs_strace(names):
    return shutil.which("strace") is None and any(isinstance(KINDS[name], Call) for name in names)
