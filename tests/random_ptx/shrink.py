# SPDX-License-Identifier: MIT
"""Drops instructions of a kernel that differs, as long as it differs."""

import copy

from check import check
from integers import IllDefined


def kind_of_message(message):
    """The kind of failure, which shrinking keeps: a difference of results must not become an error message."""
    for word in ("output row", "accesses differ"):
        if word in message:
            return word
    return message.split(":")[-1].strip()[:24]


def still_differs(kernel, seed, directory, kind):
    try:
        found = check([kernel], seed, directory)
    except (IllDefined, KeyError, IndexError, TypeError, AttributeError, ValueError):
        return None
    if found and kind_of_message(found[0][1]) == kind:
        return found[0][1]
    return None


def functions_of(kernel):
    return [kernel] + list(kernel.functions.values())


def shrink(kernel, message, seed, directory):
    """The smallest kernel found, and its message."""
    kind = kind_of_message(message)
    step = max(len(f.lines) for f in functions_of(kernel)) // 2
    while step >= 1:
        dropped = False
        for which in range(len(functions_of(kernel))):
            at = len(functions_of(kernel)[which].lines)
            while at > 0:
                smaller = copy.deepcopy(kernel)
                lines = functions_of(smaller)[which].lines
                start = max(0, at - step)
                del lines[start:at]
                now = still_differs(smaller, seed, directory, kind) if lines else None
                if now:
                    kernel, message, dropped = smaller, now, True
                at = start
        if not dropped or step > 1:
            step //= 2
    return tidy(kernel), message


def tidy(kernel):
    """Removes the registers and functions that are no longer used."""
    text = "\n".join("\n".join(f.lines) for f in functions_of(kernel)) + "\n"
    for name in [n for n in kernel.functions if n not in text]:
        del kernel.functions[name]
    for f in functions_of(kernel):
        words = set("\n".join(f.lines).replace(",", " ").replace("|", " ").replace(";", " ").replace("[", " ")
                    .replace("]", " ").replace("+", " ").replace("{", " ").replace("}", " ").replace("@", " ")
                    .replace("!", " ").replace("(", " ").replace(")", " ").split())
        f.registers = {n: t for n, t in f.registers.items() if n in words or n in f.parameters or n in f.returns}
    return kernel
