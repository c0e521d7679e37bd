# SPDX-License-Identifier: MIT
"""Random PTX kernels, run by gtrace-ptx and by a slow, simple interpreter, and compared.

  python3 tests/random_ptx --kernels 500               kernels from seed 1 on; ends with a line that counts them
  python3 tests/random_ptx --seed 7 --first 31 --kernels 1   one kernel again
  python3 tests/random_ptx --forms                     each form of an operation (forms.py), with operands from the input
  python3 tests/random_ptx --kernels 100 --write DIR   the module, its input and what it must leave, for a GPU: of sm_100,
                                                       or, --without newer, of sm_90
  python3 tests/random_ptx --kernels 100 --compare DIR the buffers that a GPU left, as DIR/NAME.got

A launch's arguments are those of DIR/launches: `in` is the file input, NAME_buffer starts as zeros and is
what NAME.got holds in the end. NAME.kinds lists the floats in it (offset, bytes, type, bounds), of which
every NaN is as good as another.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile

import check
from module import make_constants, make_input, write_module
from integers import IllDefined
from shrink import shrink

FEATURES = ("divergence", "lanes", "groups", "newer")


def arguments():
    parser = argparse.ArgumentParser(prog="random_ptx")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--first", type=int, default=0, help="number of the first kernel")
    parser.add_argument("--kernels", type=int, default=100)
    parser.add_argument("--module", type=int, default=50, help="kernels a module")
    parser.add_argument("--size", type=int, default=30, help="statements a kernel")
    parser.add_argument("--forms", action="store_true", help="kernels that have each form of operation, all of them in %d kernels" % check.PARTS)
    parser.add_argument("--without", default="", help="features to leave out: " + ", ".join(FEATURES))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--write", metavar="DIR", help="write module.ptx, input, launches and NAME.expected; run nothing")
    parser.add_argument("--compare", metavar="DIR", help="hold DIR/NAME.got against what is expected; run nothing")
    options = parser.parse_args()
    without = options.without.split(",")
    options.features = {f: f not in without for f in FEATURES}
    return options


def one_module(task):
    """The differences of one module, as text."""
    options, first, n = task
    messages = []
    kernels = check.module_of(options, first, n)
    with tempfile.TemporaryDirectory() as directory:
        try:
            found = check.check(kernels, options.seed, directory)
        except IllDefined as error:
            return ["a kernel from %d to %d is ill-defined: %s" % (first, first + n - 1, error)]
        for kernel, message in found[:1 if not options.no_shrink else None]:
            if not options.no_shrink:
                kernel, message = shrink(kernel, message, options.seed, directory)
                message += "\n" + write_module([kernel], make_constants(options.seed))
                message += "launch: " + check.launch_text(kernel, "input", True)
            messages.append(message)
    return messages


def write_files(options):
    """For a run on another machine: each kernel's buffers are in the order of its parameters."""
    os.makedirs(options.write, exist_ok=True)
    kernels = check.module_of(options, options.first, options.kernels)
    launches = []
    for i, kernel in enumerate(kernels):
        expected = check.Expected(kernel, options.seed)
        launches.append(check.launch_text(kernel, "input", i == 0))
        with open(os.path.join(options.write, kernel.name + ".expected"), "wb") as f:
            f.write(expected.output)
        with open(os.path.join(options.write, kernel.name + ".kinds"), "w") as f:
            for at, (kind, size) in sorted(expected.kinds.items()):
                f.write("%d\t%d\t%s\n" % (at, size, kind))
    for name, content in (("module.ptx", write_module(kernels, make_constants(options.seed), options.features["newer"]).encode()),
                          ("input", make_input(options.seed)), ("launches", ("\n".join(launches) + "\n").encode())):
        with open(os.path.join(options.write, name), "wb") as f:
            f.write(content)
    return 0


def compare_files(options):
    differences = 0
    for kernel in check.module_of(options, options.first, options.kernels):
        with open(os.path.join(options.compare, kernel.name + ".got"), "rb") as f:
            message = check.compare_output(kernel, check.Expected(kernel, options.seed), f.read())
        if message:
            differences += 1
            print(message.replace("gtrace-ptx", "the file"))
    print("%d kernels, %d differ" % (options.kernels, differences))
    return 1 if differences else 0


def main():
    options = arguments()
    if options.compare:
        return compare_files(options)
    if options.write:
        return write_files(options)
    tasks = [(options, first, min(options.module, options.first + options.kernels - first))
             for first in range(options.first, options.first + options.kernels, options.module)]
    differences = 0
    with multiprocessing.Pool(options.jobs) as pool:
        for messages in pool.imap(one_module, tasks):
            differences += len(messages)
            for message in messages:
                print(message, flush=True)
    print("%d kernels, %d differ" % (options.kernels, differences))
    return 1 if differences else 0


sys.exit(main())
