# SPDX-License-Identifier: MIT
"""Prints the functions and objects that the public headers (gtrace.h and what it includes) declare, a name a line."""
import re
import subprocess

preprocessed = subprocess.run(["cc", "-Ilib", "-E", "lib/gtrace.h"], capture_output=True, text=True, check=True).stdout
lines, ours = [], False
for line in preprocessed.split("\n"):
    if line.startswith("# "):
        ours = '"lib/' in line
    elif ours and not line.startswith("#pragma"):
        lines.append(line)
text = "\n".join(lines)
while re.search(r"\{[^{}]*\}", text):
    text = re.sub(r"\{[^{}]*\}", " @", text)  # bodies of functions and types
text = re.sub(r"static [^@;]*@", "", text)
text = re.sub(r"__attribute__\s*\(\(.*?\)\)\)?", "", text)
for declaration in text.split(";"):
    if re.match(r"\s*(enum|struct) \w+( @)?\s*$", declaration):
        continue
    name = re.search(r"(gt_\w+)\s*(\(|\[|$)", re.sub(r"(struct|enum)\s+\w+", "", declaration).strip())
    if name:
        print(name[1])
