# SPDX-License-Identifier: MIT
"""Compares gstats --reference with a slow, simple reader: random launches, written as the profiler's long
and wide CSV and as a table, with what formats of numbers there are; every row and statistic must agree.
usage: compare_reference.py SEED (in an empty folder; gstats and gtrace-cat in PATH)"""
import csv, io, json, math, random, subprocess, sys

rnd = random.Random(int(sys.argv[1]))
NAMES = ["gemm", "conv2d", "k"]
READ, HIT, RATE = "lts__t_sectors_op_read.sum", "lts__t_sectors_op_read_lookup_hit.sum", "lts__t_sector_op_read_hit_rate.pct"
BYTES = "dram__bytes_read.sum"
UNITS = {READ: "sector", HIT: "sector", RATE: "%", BYTES: "byte"}


def dressed(name):
    return rnd.choice(["%s", "%s(float *, int)", "void %s<float, (int)4>(T *)", "void ns::%s(float *)", "<unnamed>::%s<int>()"]) % name


def number(value, comma, decimals):
    text = f"{value:,.{decimals}f}" if rnd.random() < 0.7 else f"{value:.{decimals}f}"
    return text.translate(str.maketrans(",.", ".,")) if comma else text


def shape(values):
    return rnd.choice(["(%d, %d, %d)", "%d,%d,%d", "%dx%dx%d"]) % tuple(values)


# ours: launches and the counts of their L2
ours = []
for i in range(rnd.randrange(1, 12)):
    reads = rnd.randrange(0, 5000)
    ours.append(dict(id=i + 1, name=rnd.choice(NAMES), grid=[rnd.choice([2, 3]), 1, 1], block=[32, rnd.choice([1, 2]), 1],
                     reads=reads, hits=rnd.randrange(0, reads + 1), dram=rnd.randrange(0, 3000)))
text = ""
for k in ours:
    text += "#kernel\tid=%d\tname=%s\tgrid=%s\tblock=%s\n" % (k["id"], k["name"], ",".join(map(str, k["grid"])), ",".join(map(str, k["block"])))
    text += "#count\tstage=l2\tkernel=%d\treads=%d\tread_hits=%d\n" % (k["id"], k["reads"], k["hits"])
    text += "#count\tstage=dram\tkernel=%d\treads=%d\n" % (k["id"], k["dram"])
stream = subprocess.run(["gtrace-cat", "--from"], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout


def of(kernel, metric):
    if metric == RATE:
        return 100 * kernel["hits"] / kernel["reads"] if kernel["reads"] else None
    return {READ: kernel["reads"], HIT: kernel["hits"], BYTES: 32 * kernel["dram"]}[metric]


# hardware: most of ours in their order, some others, and impossible values
hardware = []
for k in ours + [dict(id=0, name="elsewhere", grid=[1, 1, 1], block=[1, 1, 1])]:
    if rnd.random() < 0.2:
        continue
    reads = rnd.randrange(1, 10**7)
    hits = rnd.randrange(0, reads + 1)
    rate = rnd.choice([round(100 * hits / reads, 2), round(rnd.uniform(100.01, 400), 2)])
    values = {READ: reads, HIT: hits, RATE: rate, BYTES: rnd.randrange(0, 10**6) * 1000}
    if rnd.random() < 0.2:
        del values[HIT]
    hardware.append(dict(name=dressed(k["name"]), plain=k["name"], grid=k["grid"], block=k["block"], values=values))


def write(form, comma):
    out = io.StringIO()
    out.write('a program that prints "odd, things\n==PROF== Connected\n')
    rows = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator=rnd.choice(["\n", "\r\n"]))
    # one unambiguous value, which determines how the others are read
    sure = [str(len(hardware)), "nobody", "(1, 1, 1)", "(1, 1, 1)", BYTES, "byte", "1.234,5" if comma else "1,234.5"]
    scale = rnd.choice([("byte", 1), ("Kbyte", 1000), ("Mbyte", 10**6)])
    unit = dict(UNITS, **{BYTES: scale[0]})

    def shown(metric, value):
        decimals = 2 if metric == RATE else 3 if metric == BYTES and scale[1] > 1 else rnd.choice([0, 2])
        return number(value / scale[1] if metric == BYTES else value, comma, decimals)

    if form == "wide":
        rows.writerow(["ID", "Kernel Name", "Grid Size", "Block Size", BYTES, "gpu__time.sum"] + [READ, HIT, RATE])
        rows.writerow(["", "", "", "", scale[0], "us", "sector", "sector", "%"])
        for i, h in enumerate(hardware):
            v = h["values"]
            rows.writerow([i, h["name"], shape(h["grid"]), shape(h["block"]), shown(BYTES, v[BYTES]), "x, y", shown(READ, v[READ]),
                           shown(HIT, v[HIT]) if HIT in v else "n/a", shown(RATE, v[RATE])])
        rows.writerow([sure[0], "nobody", "", "", sure[6], "", "nan", "", ""])
    else:
        rows.writerow(["ID", "Kernel Name", "Grid Size", "Block Size", "Metric Name", "Metric Unit", "Metric Value"] if form == "long"
                      else ["id", "kernel", "grid", "block", "metric", "unit", "value"])
        for i, h in enumerate(hardware):
            for metric in UNITS:
                if metric in h["values"]:
                    rows.writerow([i, h["name"], shape(h["grid"]), shape(h["block"]), metric, unit[metric], shown(metric, h["values"][metric])])
            rows.writerow([i, h["name"], shape(h["grid"]), shape(h["block"]), "sm__cycles_elapsed.avg", "cycle", "whatever"])
            out.write("==PROF== a word in between\n" if form == "long" else "\n")
        rows.writerow(sure)
    open(form + ".csv", "w", newline="").write(out.getvalue())
    return scale[1]


def expected(form, scale):
    """(kernel id or None, metric, hardware, ours, note) of every row, and the pairs by metric."""
    rows, pairs, seen, taken = [], {}, {}, set()
    for h in hardware:
        key = (h["plain"], *h["grid"], *h["block"])
        alike = [k for k in ours if (k["name"], *k["grid"], *k["block"]) == key]
        seen[key] = seen.get(key, 0) + 1
        match = alike[seen[key] - 1] if seen[key] <= len(alike) else None
        if match:
            taken.add(match["id"])
        for metric, value in h["values"].items():
            note = ""
            if metric == BYTES:
                value = round(value / scale, 3 if scale > 1 else 0) * scale
            if metric == RATE and value > 100:
                note = "recomputed" if HIT in h["values"] else "impossible"
                value = 100 * h["values"][HIT] / h["values"][READ] if HIT in h["values"] else value
            model = of(match, metric) if match else None
            if note != "impossible":
                note = "not in the model" if not match else "not modelled" if model is None else note
            if note in ("", "recomputed"):
                pairs.setdefault(metric, []).append((value, model))
            rows.append((match and match["id"], metric, value, model if note in ("", "recomputed") else None, note))
    rows.append((None, BYTES, 1234.5 * (scale if form == "wide" else 1), None, "not in the model"))
    rows += [(k["id"], "", None, None, "not in the reference") for k in ours if k["id"] not in taken]
    return rows, pairs


def close(a, b, relative=1e-9):
    if a is None or b is None:
        return a is b
    return abs(a - b) <= max(1.5e-4, relative * abs(b))


def statistics(pairs):
    n = len(pairs)
    h, o = [p[0] for p in pairs], [p[1] for p in pairs]
    nonzero = [(x, y) for x, y in pairs if x != 0]
    mape = 100 * math.fsum(abs(y - x) / abs(x) for x, y in nonzero) / len(nonzero) if nonzero else None
    mae = math.fsum(abs(y - x) for x, y in pairs) / n
    mh, mo = math.fsum(h) / n, math.fsum(o) / n
    spread = math.sqrt(math.fsum((x - mh) ** 2 for x in h) * math.fsum((y - mo) ** 2 for y in o))
    r = math.fsum((x - mh) * (y - mo) for x, y in pairs) / spread if n > 1 and spread > 0 else None
    nrmse = math.sqrt(math.fsum((y - x) ** 2 for x, y in pairs) / n) / abs(mh) if mh else None
    return n, mape, mae, r, nrmse


def value(text):
    return float(text) if text not in ("", "-") else None


for form in ("long", "wide", "table"):
    rows, pairs = expected(form, write(form, rnd.random() < 0.5))
    run = lambda *options: subprocess.run(["gstats", "--reference", form + ".csv", *options], input=stream, stdout=subprocess.PIPE, check=True).stdout.decode()
    found = list(csv.DictReader(io.StringIO(run("--csv"))))
    key = lambda row: (row[4], row[1], row[0] or 0, row[2] or 0)
    got = [(int(r["id"]) if r["id"] else None, r["metric"], value(r["hardware"]), value(r["ours"]), r["note"]) for r in found]
    assert len(got) == len(rows), (len(got), len(rows))
    for a, b in zip(sorted(got, key=key), sorted(rows, key=key)):
        assert a[:2] == b[:2] and a[4] == b[4] and close(a[2], b[2], 1e-6) and close(a[3], b[3], 1e-4), (form, a, b)
    report = json.loads(run("--json"))
    assert len(report["rows"]) == len(rows)
    open(form + "-rows.csv", "w").write(run("--csv"))
    table = subprocess.run(["gstats", "--errors", "--csv", form + "-rows.csv"], stdout=subprocess.PIPE, check=True).stdout.decode()
    errors = {r["metric"]: r for r in csv.DictReader(io.StringIO(table))}
    for source in (report["errors"], list(errors.values())):
        assert {e["metric"] for e in source} == set(pairs), (source, pairs)
        for e in source:
            want = statistics(pairs[e["metric"]])
            have = [value(str(e[c])) if e[c] is not None else None for c in ("pairs", "mape", "mae", "pearson", "nrmse")]
            for a, b in zip(have, want):
                assert close(a, b, 1e-6 if source is report["errors"] else 1e-3), (form, e, want)  # rows have four decimals
