# SPDX-License-Identifier: MIT
"""Pipes of which one stage is killed."""

import shlex
import subprocess
import tempfile

from judge import spoken
from kinds import spread, strace
from run import ENVIRONMENT, Place

KILLED = ("read", "write")  # at calls of these


class Pipe:
    """What a pipe left: the last stage's status and output, the messages of all, and the files that they made."""

    def __init__(self, stages, folder, prefixes=()):
        with Place(folder) as place, tempfile.TemporaryFile() as errors:
            started, before = [], subprocess.DEVNULL
            for i, stage in enumerate(stages):
                prefix = prefixes[i] if prefixes else []
                child = subprocess.Popen([*prefix, *stage], cwd=place.path, stdin=before, stdout=subprocess.PIPE, stderr=errors,
                                         env=ENVIRONMENT)
                if started:
                    before.close()
                before = child.stdout
                started.append(child)
            try:
                self.output = started[-1].communicate(timeout=120)[0]
                self.status = started[-1].returncode
                for child in started:
                    child.wait(timeout=120)
            except subprocess.TimeoutExpired:
                self.status, self.output = "none: it hangs", b""
                for child in started:
                    child.kill()
            errors.seek(0)
            self.errors = errors.read().decode("utf-8", "replace")
            self.files = place.made()


def reads_text(stage):
    """Whether a stage cannot know that the one before it has reported a failure."""
    return stage[0] in ("gplot", "gpchase") or "--from" in stage


def judge_pipe(run, sound, killed, stages):
    """None, or what is wrong. The last stage, if it is killed, says nothing, and its status says so; where text is read, that stage
    may report what it misses. gtrace-record reports that its program was killed; if that had written nothing yet, the next stage
    reports an empty stream."""
    most = 1 + sum(reads_text(stage) for stage in stages[killed + 1:]) + (stages[killed][0] == "gtrace-record")
    if isinstance(run.status, str):
        return "status %s" % run.status
    if run.status == 0:
        return None if run.output == sound.output and run.files == sound.files else "status 0, but other output or files"
    if killed == len(stages) - 1:
        return None
    if run.status < 0 or run.status >= 128:
        return "status %s" % run.status
    said = spoken(run, sound)
    return None if 1 <= len(said) <= most else "status %d and %d lines of errors: %r" % (run.status, len(said), run.errors[:400])


def check_pipe(line, folder, options):
    """Kills each stage of a pipe in turn; returns how many runs there were, and the messages."""
    stages, runs, messages = [shlex.split(stage) for stage in line.split(" | ")], 0, []
    sound = Pipe(stages, folder)
    if sound.status != 0 or not (sound.output or sound.files):
        return 1, ["%s\n  without a fault: status %s: %s" % (line, sound.status, sound.errors)]
    for i, stage in enumerate(stages):
        for call in KILLED:
            with tempfile.NamedTemporaryFile("r", dir=folder) as log:
                prefixes = [[] for _ in stages]
                prefixes[i] = strace(stage, "-o", log.name, "-e", "trace=" + call)
                Pipe(stages, folder, prefixes)
                n = log.read().count(call + "(")
            for at in spread(0, n, options.most or 12):
                runs += 1
                inject = "inject=%s:signal=SIGKILL:when=%d" % (call, at)
                prefixes[i] = strace(stage, "-o", "/dev/null", "-e", "trace=" + call, "-e", inject)
                wrong = judge_pipe(Pipe(stages, folder, prefixes), sound, i, stages)
                if wrong:
                    messages.append("%s\n  %s killed at %s %d of %d: %s" % (line, stage[0], call, at, n, wrong))
    return runs, messages
