# SPDX-License-Identifier: MIT
"""What a run with a fault may have left."""


def spoken(run, sound):
    """The messages that it has beside those of a run without a fault. What the recorded program says itself counts if there is no
    other."""
    usual = sound.errors.splitlines()
    said = [line for line in run.errors.splitlines() if line not in usual]
    return [line for line in said if not line.startswith("program: ")] or said


def judge(run, sound, must_pass=False):
    """None, or what is wrong with a run that had a fault."""
    if isinstance(run.status, str) or run.status < 0 or run.status >= 128:
        return "status %s" % run.status
    if run.status == 0:
        if run.output != sound.output:
            return "status 0, but %d bytes of output that differ from the %d bytes without a fault" % (
                len(run.output), len(sound.output))
        return None if run.files == sound.files else "status 0, but other files: %s" % sorted(run.files)
    if must_pass:
        return "status %d: %r" % (run.status, run.errors[:400])
    said = spoken(run, sound)
    return None if len(said) == 1 else "status %d and %d lines of errors: %r" % (run.status, len(said), run.errors[:400])
