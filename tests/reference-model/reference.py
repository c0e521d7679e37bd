# SPDX-License-Identifier: MIT
"""gstats(1), Compare with your GPU: gstats --reference, its rows and the errors by metric, against tables in each form of a profiler."""

import csv
import io
import json
import math
from fractions import Fraction

import stats
import stream
from stream import some
from tools import put, through

KERNELS = ["copy", "scale<int>(float *, int)", "void ns::sum(float*)"]
RATES = ".pct"


# Drawing

def draw(random):
    drawn = stats.draw(random)
    launches = drawn.stream.launches
    names = random.sample(KERNELS, random.choice([1, 2, 3]))
    for launch in launches:
        launch.counts = [(stage, counters) for stage, counters in launch.counts if stage not in ("sample", "large")]
        launch.fields.update(name=random.choice(names), grid=random.choice(["2,1,1", "64,3,1"]), block="32,1,1")
    metrics = random.sample(sorted({name for name, *_ in stats.NCU}), random.choice([1, 3, 6]))
    rows = []
    for launch in launches:
        if not some(random, 0.9):
            continue
        known = stats.metrics(stats.together([stats.stages_of(launch, False)]))
        for metric in metrics:
            if some(random, 0.95):
                rows.append({"launch": launch, "metric": metric, "value": draw_value(random, known.get(metric), metric)})
    form = random.choice(["own", "long", "wide"])
    case = stream.Case(drawn.stream, [["gstats", "--quiet", "--reference", "hw.csv", "--" + random.choice(["csv", "json"])]], rows=rows, metrics=metrics, form=form)
    case.files = {"hw.csv": {"own": own, "long": long, "wide": wide}[form](case)}
    return case


def draw_value(random, known, metric):
    """A value of the profiler, as a text."""
    value = float(known) if known is not None and known >= 0 else random.randrange(1000)
    if some(random, 0.7):
        value = value * random.choice([0.5, 0.9, 1.1, 2]) + random.choice([0, 0, 3])
    if metric.endswith(RATES):
        return f"{min(value, 100):.2f}"
    return f"{value:.3f}" if metric.endswith(".ratio") else str(int(value))


def text_of(rows):
    file = io.StringIO()
    csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return file.getvalue()


def shape(text):
    return "(" + ", ".join(text.split(",")) + ")"


def own(case):
    return text_of([["id", "kernel", "metric", "value", "grid"]] + [
        [row["launch"].fields["id"], row["launch"].fields["name"], row["metric"], row["value"], row["launch"].fields["grid"].replace(",", "x")]
        for row in case.rows])


def long(case):
    rows = [["ID", "Kernel Name", "Block Size", "Grid Size", "Metric Name", "Metric Unit", "Metric Value"]]
    for row in case.rows:
        fields = row["launch"].fields
        rows.append([fields["id"], fields["name"], shape(fields["block"]), shape(fields["grid"]), row["metric"], "", row["value"]])
    return "==PROF== Connected\n" + text_of(rows)


def wide(case):
    rows = [["ID", "Kernel Name", "Block Size", "Grid Size"] + case.metrics, [""] * (4 + len(case.metrics))]
    for launch in case.stream.launches:
        values = {row["metric"]: row["value"] for row in case.rows if row["launch"] is launch}
        if values:
            rows.append([launch.fields["id"], launch.fields["name"], shape(launch.fields["block"]), shape(launch.fields["grid"])]
                        + [values.get(metric, "") for metric in case.metrics])
    return text_of(rows)


# The model

def bare(name):
    """Without return type, namespaces, template arguments and parameters."""
    return name.split("(")[0].split("<")[0].split(" ")[-1].split("::")[-1]


def key(launch):
    return bare(launch.fields["name"]), launch.fields["grid"]


def pairs(case):
    """[(launch or None, metric, hardware's value, ours or None, note)]: the first launch of a name and shape in the file is the first in the stream."""
    listed = []
    in_file = []
    for row in case.rows:
        if row["launch"] not in in_file:
            in_file.append(row["launch"])
    for row in case.rows:
        place = [launch for launch in in_file if key(launch) == key(row["launch"])].index(row["launch"])
        ours = [launch for launch in case.stream.launches if key(launch) == key(row["launch"])]
        launch = ours[place] if place < len(ours) else None
        known = stats.metrics(stats.together([stats.stages_of(launch, False)])) if launch else {}
        value = Fraction(row["value"])
        note = "impossible" if impossible(case, row["launch"], row["metric"], value) else "not modelled" if row["metric"] not in known else ""
        listed.append((launch, row["metric"], value, known.get(row["metric"]), note))
    return listed


def impossible(case, launch, metric, value):
    """Hits above the lookups that the file has of the same launch."""
    lookups = [Fraction(row["value"]) for row in case.rows if row["launch"] is launch and row["metric"] == metric.replace("_lookup_hit", "")]
    return metric.endswith("_lookup_hit.sum") and bool(lookups) and value > lookups[0]


def errors_of(values):
    """mape, mae, pearson and nrmse of pairs of hardware's value and ours."""
    nonzero = [(h, o) for h, o in values if h]
    n, mean_h, mean_o = len(values), sum(h for h, _ in values) / len(values), sum(o for _, o in values) / len(values)
    spread_h, spread_o = sum((h - mean_h) ** 2 for h, _ in values), sum((o - mean_o) ** 2 for _, o in values)
    return {
        "pairs": n, "pairs_nonzero": len(nonzero),
        "mape": sum(100 * abs(o - h) / abs(h) for h, o in nonzero) / len(nonzero) if nonzero else None,
        "mae": sum(abs(o - h) for h, o in values) / n,
        "pearson": sum((h - mean_h) * (o - mean_o) for h, o in values) / math.sqrt(spread_h * spread_o) if spread_h and spread_o else None,
        "nrmse": math.sqrt(sum((o - h) ** 2 for h, o in values) / n) / float(mean_h) if mean_h else None,
    }


def same(wanted, got):
    return wanted is None and got is None or wanted is not None and got is not None and abs(float(wanted) - float(got)) <= 6e-5 + 1e-6 * abs(float(wanted))


def number(text):
    return None if text in ("", "-", None) else float(text)


def read(text, form):
    """The rows [(id, metric, hardware, ours, difference, note)], and the errors by metric."""
    if form == "--json":
        report = json.loads(text)
        return report["rows"], {error["metric"]: error for error in report["errors"]}
    return list(csv.DictReader(io.StringIO(text))), None


def compare_rows(expected, rows):
    found = {(int(row["id"]), row["metric"]): row for row in rows if number(row.get("hardware")) is not None and str(row["id"]).isdigit()}
    for launch, metric, hardware, ours, note in expected:
        if launch is None:
            continue
        row = found.pop((launch.fields["id"], metric), None)
        if row is None:
            return f"no row of launch {launch.fields['id']}, {metric}"
        wanted = [hardware, ours, ours - hardware] if note == "" else [hardware, None, None]
        got = [number(row[column]) for column in ("hardware", "ours", "difference")]
        if not all(map(same, wanted, got)) or row["note"] != note:
            return f"launch {launch.fields['id']}, {metric}: expected {[None if one is None else float(one) for one in wanted]}, got {row}"
    return f"not expected: {found}" if found else None


def compare_errors(expected, errors, rounded):
    """rounded: the errors are of rows as CSV has them, with four decimals."""
    values = {}
    for launch, metric, hardware, ours, note in expected:
        if launch is not None and note == "":
            values.setdefault(metric, []).append((hardware, Fraction(round(ours * 10000), 10000) if rounded else ours))
    if set(values) != set(errors):
        return f"errors of {sorted(errors)}, expected {sorted(values)}"
    for metric, some_values in values.items():
        for name, wanted in errors_of(some_values).items():
            if not same(wanted, number(errors[metric][name])):
                return f"{metric}: expected {name} {wanted and float(wanted)}, got {errors[metric][name]}"
    return None


def check(case, folder):
    put(folder, case.files)
    data = through(["gtrace-cat", "--from"], stream.text(case.stream).encode(), folder)
    text = through(case.commands[0], data, folder)
    rows, errors = read(text.decode(), case.commands[0][-1])
    expected, rounded = pairs(case), errors is None
    if rounded:
        errors = {row["metric"]: row for row in csv.DictReader(io.StringIO(through(["gstats", "--errors", "--csv", "-"], text, folder).decode()))}
    return compare_rows(expected, rows) or compare_errors(expected, errors, rounded)
