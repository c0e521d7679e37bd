# SPDX-License-Identifier: MIT
"""ncu's CSV with a line for each metric, as its raw page: a line for each launch, with a column for each metric and a line of units."""
import csv
import sys

METRIC = ("Section Name", "Metric Name", "Metric Unit", "Metric Value")

rows = list(csv.DictReader(sys.stdin))
kept = [name for name in rows[0] if name not in METRIC]
units = {row["Metric Name"]: row["Metric Unit"] for row in rows}
launches = {}
for row in rows:
    launches.setdefault(row["ID"], (row, {}))[1][row["Metric Name"]] = row["Metric Value"]
out = csv.writer(sys.stdout, quoting=csv.QUOTE_ALL)
out.writerow(kept + list(units))
out.writerow([""] * len(kept) + list(units.values()))
for row, values in launches.values():
    out.writerow([row[name] for name in kept] + [values.get(name, "") for name in units])
