# SPDX-License-Identifier: MIT
"""Runs the tools, from PATH, on a case."""

import os
import subprocess

import stream


class Failed(Exception):
    pass


def through(command, data, folder):
    done = subprocess.run(command, input=data, capture_output=True, cwd=folder, check=False)
    if done.returncode != 0:
        raise Failed(f"{command[0]}: exit {done.returncode}: {done.stderr.decode().strip()}")
    return done.stdout


def put(folder, files):
    """Writes files {name: text or bytes}; a name may have folders."""
    for name, content in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())


def pipe(case, folder, commands):
    """What these commands make of a case's stream and files."""
    put(folder, case.files)
    data = through(["gtrace-cat", "--from"], stream.text(case.stream).encode(), folder)
    for command in commands:
        data = through(command, data, folder)
    return data


def ask(case, folder):
    """What the tools print: a Stream, or the lines of a table."""
    data = pipe(case, folder, case.commands)
    if case.table:
        return [line.split("\t") for line in data.decode().splitlines()]
    return stream.parse(through(["gtrace-cat"], data, folder).decode())


def given(case, folder):
    """What the last tool is given, and what it prints."""
    data = pipe(case, folder, case.commands[:-1])
    return stream.parse(through(["gtrace-cat"], data, folder).decode()), through(case.commands[-1], data, folder).decode()
