# SPDX-License-Identifier: MIT
"""Runs commands with one fault each, and sees that none is passed over.

  python3 tests/faults --preload FILE [--every N | --most N] [--kinds LIST] [--jobs N] [COMMAND]

A fault is the n-th allocation that fails (kind `malloc`, by fail_allocation.so), or the n-th system call of a kind
that fails with an error (by strace). Each run must print what the command prints without a fault, or exit with a
status that is not 0 and one line on standard error. What ends by a signal, or exits 0 with other output, is a
failure. --most N: at most N faults of a kind for a command, spread over its run. COMMAND: only the lines that it is
in. The last line is "N runs, N failed".
"""

import argparse
import concurrent.futures
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

from judge import judge

HERE = os.path.dirname(os.path.abspath(__file__))

# name, system calls that strace fails, error
KINDS = (
    ("malloc", None, None),
    ("read", "read", "EIO"),
    ("read-interrupted", "read", "EINTR"),
    ("write", "write", "ENOSPC"),
    ("write-interrupted", "write", "EINTR"),
    ("send", "sendto", "ENOBUFS"),
    ("receive", "recvfrom", "EIO"),
    ("seek", "lseek", "EIO"),
    ("open", "openat", "EMFILE"),
    ("mmap", "mmap", "ENOMEM"),
    ("fork", "clone,clone3,vfork,fork", "EAGAIN"),
)
ENVIRONMENT = dict(os.environ, LC_ALL="C")


def arguments():
    parser = argparse.ArgumentParser(prog="faults")
    parser.add_argument("--preload", required=True, help="fail_allocation.so")
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--kinds", default=",".join(kind[0] for kind in KINDS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("command", nargs="?", default="")
    return parser.parse_args()


class Run:
    """What a command left: its status, what it printed, and the files that it made in its folder."""

    def __init__(self, command, folder, prefix=(), environment=()):
        with tempfile.TemporaryDirectory(dir=folder) as place:
            for name in os.listdir(folder):
                if os.path.isfile(os.path.join(folder, name)):
                    os.symlink(os.path.join(folder, name), os.path.join(place, name))
            given = set(os.listdir(place))
            try:
                done = subprocess.run([*prefix, *command], cwd=place, stdin=subprocess.DEVNULL, capture_output=True,
                                      env={**ENVIRONMENT, **dict(environment)}, timeout=120)
                self.status, self.output, self.errors = done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")
            except subprocess.TimeoutExpired:
                self.status, self.output, self.errors = "none: it hangs", b"", ""
            self.files = {}
            for top, _, names in os.walk(place):
                for name in names:
                    path = os.path.join(top, name)
                    if os.path.relpath(path, place) not in given:
                        with open(path, "rb") as file:
                            self.files[os.path.relpath(path, place)] = file.read()


def count_allocations(command, folder, preload):
    with tempfile.NamedTemporaryFile("r", dir=folder) as count:
        Run(command, folder, environment=[("LD_PRELOAD", preload), ("FAULT_COUNT", count.name)])
        return 0, int(count.read() or 0)


def count_calls(command, folder, calls):
    """How many the loader makes, whose last act is to unmap its cache, and how many there are in all."""
    with tempfile.NamedTemporaryFile("r", dir=folder) as log:
        Run(command, folder, prefix=["strace", "-qq", "-o", log.name, "-e", "trace=munmap," + calls, "-e", "signal=none"])
        names = re.findall(r"^(\w+)\(", log.read(), re.M)
    wanted = calls.split(",")
    loader = names.index("munmap") if "munmap" in names else 0
    return sum(name in wanted for name in names[:loader]), sum(name in wanted for name in names)


def spread(before, n, most):
    """The numbers from before + 1 to n, or `most` of them."""
    if most == 0 or n - before <= most:
        return range(before + 1, n + 1)
    return sorted({before + 1 + i * (n - before - 1) // (most - 1) for i in range(most)})


def one_fault(command, folder, kind, n, preload):
    name, calls, error = kind
    if calls is None:
        return Run(command, folder, environment=[("LD_PRELOAD", preload), ("FAULT_AT", str(n))])
    inject = "inject=%s:error=%s:when=%d" % (calls, error, n)
    return Run(command, folder, prefix=["strace", "-qq", "-o", "/dev/null", "-e", "trace=" + calls, "-e", "signal=none", "-e", inject])


def check(line, folder, options):
    """Runs one command with all its faults; returns how many runs there were, and the messages."""
    command, runs, messages = shlex.split(line), 0, []
    sound = Run(command, folder)
    if sound.status != 0 or not (sound.output or sound.files):
        return 1, ["%s\n  without a fault: status %s, %d bytes: %s" % (line, sound.status, len(sound.output), sound.errors)]
    for kind in KINDS:
        if kind[0] not in options.kinds.split(","):
            continue
        before, n = count_allocations(command, folder, options.preload) if kind[1] is None else count_calls(command, folder, kind[1])
        for at in spread(before, n, options.most):
            runs += 1
            wrong = judge(one_fault(command, folder, kind, at, options.preload), sound)
            if wrong:
                messages.append("%s\n  %s %d of %d: %s" % (line, kind[0], at, n, wrong))
    return runs, messages


def main():
    options = arguments()
    options.preload = os.path.abspath(options.preload)
    if options.kinds != "malloc" and not shutil.which("strace"):
        sys.exit("faults: no strace")
    with open(os.path.join(HERE, "commands")) as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    lines = [line for line in lines if options.command in line]
    runs = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["bash", os.path.join(HERE, "prepare"), folder], check=True)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for n, messages in pool.map(lambda line: check(line, folder, options), lines):
                runs += n
                failed += len(messages)
                for message in messages:
                    print(message, flush=True)
    print("%d runs, %d failed" % (runs, failed))
    return 1 if failed else 0


signal.signal(signal.SIGINT, signal.SIG_DFL)
sys.exit(main())
