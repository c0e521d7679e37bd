# SPDX-License-Identifier: MIT
"""What a run with a fault may have left."""


def judge(run, sound):
    """None, or what is wrong with a run that had a fault."""
    if isinstance(run.status, str) or run.status < 0 or run.status >= 128:
        return "status %s" % run.status
    if run.status == 0:
        if run.output != sound.output:
            return "status 0, but %d bytes of output that differ from the %d bytes without a fault" % (
                len(run.output), len(sound.output))
        return None if run.files == sound.files else "status 0, but other files: %s" % sorted(run.files)
    said = [line for line in run.errors.splitlines() if line not in sound.errors.splitlines()]
    return None if len(said) == 1 else "status %d and %d lines of errors: %r" % (run.status, len(said), run.errors[:400])
