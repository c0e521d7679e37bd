# SPDX-License-Identifier: MIT
"""Sends a signal to a command while a program that it runs sleeps: within a second none of its processes lives, its status is that of
the signal, and a line says what was left undone.

usage: orphans.py PROCESSES COMMAND...    so many processes begin
"""

import os
import signal
import subprocess
import sys
import time


def living(session):
    """The names of the processes of a session that are no zombies."""
    names = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid, encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError:
            continue
        name, rest = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:].split()
        if int(rest[3]) == session and rest[0] not in "ZX":
            names.append(name)
    return sorted(names)


def wait_until(holds, seconds):
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


def restore():
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def check(command, processes, number):
    """None, or what is wrong."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
                             preexec_fn=restore)
    if not wait_until(lambda: "sleep" in living(child.pid) and len(living(child.pid)) >= processes, 30):
        return "only these began: %s" % living(child.pid)
    os.kill(child.pid, number)
    gone = wait_until(lambda: not living(child.pid), 1)
    left = living(child.pid)
    if not gone:
        os.killpg(child.pid, signal.SIGKILL)
    said = child.stderr.read().decode()
    status = child.wait()
    if not gone:
        return "after a second these live: %s" % left
    if status not in (-number, 128 + number):
        return "status %d" % status
    named = [line for line in said.splitlines() if line.startswith(command[0] + ": ") and (number.name in line or "(%s)" % signal.strsignal(number) in line)]
    if number != signal.SIGKILL and len(named) != 1:
        return "%d lines name the signal: %r" % (len(named), said)
    return None


def main():
    processes, command = int(sys.argv[1]), sys.argv[2:]
    failed = False
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        wrong = check(command, processes, number)
        print("%s: %s: %s" % (" ".join(command), number.name, wrong or "ok"))
        failed = failed or wrong is not None
    sys.exit(failed)


main()
