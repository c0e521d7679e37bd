# SPDX-License-Identifier: MIT
"""Runs commands with one fault each, and sees that none is passed over.

  python3 tests/faults --preload FOLDER [--most N] [--every N] [--kinds LIST] [--jobs N] [COMMAND]

The commands are those of the file `commands`, the kinds of faults those of kinds.py: an allocation or a system call that fails,
short transfers, limits of the shell, a TMPDIR that is none, full or read-only. Each run must print what the command prints without a fault, or
exit with a status that is not 0 and one line on standard error. What ends by a signal, or exits 0 with other output, is a failure.
Kind `kill` takes the file `pipes`, and kills each stage in turn. --most N: at most N faults of a kind for a command, spread over
its run. --every N: each kind with every N-th command, others for each kind. COMMAND: only the lines that it is in. The last line is "N runs, N failed".
"""

import argparse
import concurrent.futures
import functools
import os
import shlex
import signal
import subprocess
import sys
import tempfile

from judge import judge
from kinds import KINDS, needs_strace
from killed import check_pipe
from run import Run

HERE = os.path.dirname(os.path.abspath(__file__))


def arguments():
    parser = argparse.ArgumentParser(prog="faults")
    parser.add_argument("--preload", required=True, help="the folder of fail_allocation.so and short_transfers.so")
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--kinds", default=",".join([*KINDS, "kill"]))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("command", nargs="?", default="")
    return parser.parse_args()


def check(number, line, folder, options):
    """Runs one command, of this number, with all its faults; returns how many runs there were, and the messages."""
    command, runs, messages = shlex.split(line), 0, []
    sound = Run(command, folder)
    if sound.status != 0 or not (sound.output or sound.files):
        return 1, ["%s\n  without a fault: status %s, %d bytes: %s" % (line, sound.status, len(sound.output), sound.errors)]
    for at, name in enumerate(options.kinds):
        kind = KINDS.get(name)
        for label, run in kind.faults(command, folder, options) if kind and (number + at) % options.every == 0 else ():
            runs += 1
            wrong = judge(run(), sound, getattr(kind, "must_pass", False))
            if wrong:
                messages.append("%s\n  %s, %s: %s" % (line, name, label, wrong))
    return runs, messages


def lines_of(name, options):
    with open(os.path.join(HERE, name)) as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    return [line for line in lines if options.command in line]


def work(options):
    """What is to be checked: functions of a folder and the options."""
    if any(name in KINDS for name in options.kinds):
        yield from (functools.partial(check, number, line) for number, line in enumerate(lines_of("commands", options)))
    if "kill" in options.kinds:
        yield from (functools.partial(check_pipe, line) for line in lines_of("pipes", options))


def main():
    options = arguments()
    options.preload = os.path.abspath(options.preload)
    options.kinds = options.kinds.split(",")
    unknown = [name for name in options.kinds if name not in KINDS and name != "kill"]
    if unknown:
        sys.exit("faults: '%s': no kind of faults" % unknown[0])
    if not os.path.isfile(os.path.join(options.preload, "fail_allocation.so")):
        sys.exit("faults: %s: no fail_allocation.so" % options.preload)
    if needs_strace([name for name in options.kinds if name in KINDS]):
        sys.exit("faults: no strace")
    runs = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["bash", os.path.join(HERE, "prepare"), folder], check=True)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for n, messages in pool.map(lambda one: one(folder, options), work(options)):
                runs += n
                failed += len(messages)
                for message in messages:
                    print(message, flush=True)
    print("%d runs, %d failed" % (runs, failed))
    return 1 if failed else 0


signal.signal(signal.SIGINT, signal.SIG_DFL)
sys.exit(main())
