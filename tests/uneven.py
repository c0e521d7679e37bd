# SPDX-License-Identifier: MIT
"""Runs a filter on a stream that arrives in uneven pieces and leaves in others, while the filter is stopped and continued: what it
writes is what it writes otherwise.

    uneven.py STREAM COMMAND [ARGUMENT...]
"""
import random
import signal
import subprocess
import sys
import threading
import time


def uneven(command, data, pick):
    filter_ = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def feed():
        at = 0
        while at < len(data):
            size = pick.choice([1, 7, 100, 4096, 70000])
            filter_.stdin.write(data[at:at + size])
            filter_.stdin.flush()
            at += size
            if pick.random() < 0.1:
                time.sleep(0.001)
        filter_.stdin.close()

    def stop():
        for _ in range(5):
            time.sleep(0.02 * pick.random())
            for sent in (signal.SIGSTOP, signal.SIGCONT):
                filter_.send_signal(sent)
                time.sleep(0.02)

    helpers = [threading.Thread(target=feed), threading.Thread(target=stop)]
    for helper in helpers:
        helper.start()
    written = b""
    while piece := filter_.stdout.read1(pick.choice([1, 13, 5000, 65536])):
        written += piece
        if pick.random() < 0.1:
            time.sleep(0.001)
    for helper in helpers:
        helper.join()
    return written, filter_.wait()


def main():
    command = sys.argv[2:]
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    sound = subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout
    assert len(sound) > 50
    for seed in (1, 2):
        assert uneven(command, data, random.Random(seed)) == (sound, 0), (command, seed)


main()
