# SPDX-License-Identifier: MIT
"""One run of a command, in a folder of its own with links to the files that were prepared."""

import os
import subprocess
import tempfile

ENVIRONMENT = dict(os.environ, LC_ALL="C")


class Place:
    """A folder with links to the files of another; `made` are the files that are new when a command has run."""

    def __init__(self, folder):
        self.temporary = tempfile.TemporaryDirectory(dir=folder)
        self.path = self.temporary.name
        for name in os.listdir(folder):
            if os.path.isfile(os.path.join(folder, name)):
                os.symlink(os.path.join(folder, name), os.path.join(self.path, name))
        self.given = set(os.listdir(self.path))

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.temporary.cleanup()

    def made(self):
        files = {}
        for top, _, names in os.walk(self.path):
            for name in names:
                path = os.path.join(top, name)
                if os.path.relpath(path, self.path) not in self.given:
                    with open(path, "rb") as file:
                        files[os.path.relpath(path, self.path)] = file.read()
        return files


class Run:
    """What a command left: its status, what it printed, and the files that it made."""

    def __init__(self, command, folder, prefix=(), environment=()):
        with Place(folder) as place:
            try:
                done = subprocess.run([*prefix, *command], cwd=place.path, stdin=subprocess.DEVNULL, capture_output=True,
                                      env={**ENVIRONMENT, **dict(environment)}, timeout=120)
                self.status, self.output, self.errors = done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")
            except subprocess.TimeoutExpired:
                self.status, self.output, self.errors = "none: it hangs", b"", ""
            self.files = place.made()
