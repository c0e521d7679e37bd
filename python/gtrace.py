# SPDX-License-Identifier: MIT
"""Runs gtrace, and reads its streams (gtrace(5)) into numpy and pandas.

    import gtrace
    run = gtrace.run("./program", gpu="a100")
    run.findings                            # what costs most: gtrace-findings(7), a row for each
    run.counts                              # kernel, name, launches, stage, counter, value
    trace = gtrace.read("gemm.gt")          # a file, compressed or not, or "-" for standard input
    frame = trace.to_pandas()               # a row for each access or request
    trace.counts_to_pandas()                # kernel, stage, counter, value
    trace.kernels, trace.gpu, trace.history

`batches(file)` goes through a stream of any length in bounded memory. Needs python3-msgpack, python3-numpy and
python3-xxhash; pandas for the frames only. `run` needs gtrace's programs.
"""
import collections
import json
import operator
import os
import shutil
import subprocess
import sys
import sysconfig

import msgpack
import numpy
import xxhash

__all__ = ["run", "read", "batches", "Trace", "Run", "Error"]

# What the tools know of rows, as gtrace-cat --schema says: made by `make`, and installed beside this file.
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "gtrace_schema.json"), encoding="utf-8") as _file:
    _schema = json.load(_file)
COLUMNS = {kind: {name: "<" + dtype for name, dtype in columns.items()} for kind, columns in _schema["columns"].items()}
STRIDE_LANES = _schema["stride_lanes"]  # as a stride: the row's addresses are in `lanes`
OPS = {int(op): name for op, name in _schema["ops"].items()}
STATUSES = _schema["statuses"]
OPTIONAL = ("step", "sm", "hint", "work", "shared", "status", "latency", "lanes")  # of the columns
# The limits of the tools, for a stream that came from elsewhere.
VERSION, RECORD_MAX, OBJECTS_MAX, ROWS_MAX, SPAN_MOST = 3, 32 << 20, 1 << 22, 1 << 16, 64
PACKED = {b"\x1f\x8b": "gzip", b"\xfd7": "xz", b"\x28\xb5": "zstd"}


class Error(ValueError):
    """A stream that is damaged, incomplete or not a stream."""


def op_name(op):
    """"load.global", "store.shared", "load.global.nc" and so on, of the number of an operation."""
    return OPS[op]


def _records(file):
    unpacker = msgpack.Unpacker(raw=False, unicode_errors="replace", strict_map_key=False, max_buffer_size=2 * RECORD_MAX,
                                max_array_len=OBJECTS_MAX, max_map_len=OBJECTS_MAX)
    digest = xxhash.xxh3_64()
    pending, hashed, fed, rows, first = b"", 0, 0, 0, True
    while chunk := file.read(1 << 20):
        unpacker.feed(chunk)
        pending += chunk
        fed += len(chunk)
        used = 0
        for record in unpacker:
            size = unpacker.tell() - hashed
            if not isinstance(record, list) or not record or first != (record[0] == "gtrace"):
                raise Error("expected a gtrace stream" if first else "expected a record of a gtrace stream")
            if first and not 1 <= record[1] <= VERSION:
                raise Error(f"stream version {record[1]}: this module reads versions 1 to {VERSION}")
            first = False
            if record[0] in COLUMNS:
                rows += record[1]
            if record[0] == "failed":
                raise Error(f"{record[1]['tool']} failed: {record[1]['error']}")
            if record[0] == "end":
                if record[1]["xxh3"] != digest.intdigest() or record[1]["rows"] != rows:
                    raise Error("the checksum is wrong: the stream was damaged on its way")
                if unpacker.tell() != fed or file.read(1):
                    raise Error("data after the end of the stream")
                return
            digest.update(memoryview(pending)[used:used + size])
            used += size
            hashed += size
            yield record
        pending = pending[used:]
    raise Error("no end record: the stream is incomplete" if not first else "expected a gtrace stream, found nothing")


def _column(value, n, dtype):
    """A column of n elements: as it is, one element for all rows, or narrower ones and an offset."""
    dtype = numpy.dtype(dtype)
    if isinstance(value, list):
        offset, narrow = value
        width = len(narrow) // n
        if width * n != len(narrow) or width not in (1, 2, 4) or width >= dtype.itemsize:
            raise Error(f"{len(narrow)} bytes are no column of {n} narrow elements")
        return (numpy.frombuffer(narrow, f"<u{width}").astype("<u8") + numpy.uint64(operator.index(offset) % 2**64)).astype(dtype)
    if len(value) == dtype.itemsize:
        return numpy.broadcast_to(numpy.frombuffer(value, dtype), n)
    if len(value) != n * dtype.itemsize:
        raise Error(f"{len(value)} bytes are no column of {n} elements of {dtype.itemsize}")
    return numpy.frombuffer(value, dtype)


def _rows(kind, n, columns):
    if not 1 <= n <= ROWS_MAX:
        raise Error(f"{n} rows: at most {ROWS_MAX} expected")
    missing = [name for name in COLUMNS[kind] if name not in columns and (name not in OPTIONAL or (name == "sm" and "step" in columns))]
    if missing:
        raise Error(f"rows without the column {missing[0]!r}")
    rows = {name: _column(columns[name], n, dtype) for name, dtype in COLUMNS[kind].items()
            if name in columns and not (kind == "access" and name == "lanes")}
    for op in numpy.unique(rows["op"]).tolist():
        op_name(op)
    if "status" in rows and rows["status"].max() >= len(STATUSES):
        raise Error(f"status {rows['status'].max()}: no such status")
    if kind == "access":
        _check_access(rows, columns)
        if "width" in columns or "pitch" in columns:
            _spread(rows, _column(columns["width"], n, "u1"), _column(columns["pitch"], n, "<i8"))
    elif "width" in columns or "pitch" in columns:
        rows = _expand(rows, _column(columns["width"], n, "u1"), _column(columns["pitch"], n, "<i8"))
    return rows


def _check_access(rows, columns):
    """Checks the lanes of rows, and adds their addresses where they have no stride."""
    if not rows["mask"].all():
        raise Error("a row with no active lane")
    listed = rows["stride"] == STRIDE_LANES
    active = numpy.unpackbits(numpy.ascontiguousarray(rows["mask"][listed]).view("u1")).reshape(-1, 32).sum(axis=1, dtype="<u8")
    count = int(active.sum())
    if "lanes" in columns or count:
        rows["lanes"] = _column(columns["lanes"], count, "<u8") if count else numpy.zeros(0, "<u8")
    base = rows["base"][listed]
    if (base > count).any() or (active > count - base).any():
        raise Error(f"addresses beyond the {count} of the batch")


def _spread(rows, width, pitch):
    """Lists the addresses of lanes at a pitch, as those without a stride are."""
    pitched, listed = width != 0, rows["stride"] == STRIDE_LANES
    if not numpy.isin(width, (0, 2, 4, 8, 16)).all() or (pitched & listed).any():
        raise Error("a row with a width that is not 2, 4, 8 or 16 lanes at a stride")
    active = numpy.unpackbits(numpy.ascontiguousarray(rows["mask"]).view("u1").reshape(-1, 4), axis=1, bitorder="little").astype(bool)
    counts = numpy.where(pitched | listed, active.sum(axis=1), 0)
    begin = numpy.cumsum(counts) - counts
    lanes = numpy.zeros(int(counts.sum()), "<u8")
    for i in numpy.flatnonzero(listed):
        at = int(rows["base"][i])
        lanes[begin[i]:begin[i] + counts[i]] = rows["lanes"][at:at + int(counts[i])]
    at = numpy.flatnonzero(pitched)
    of, lane = numpy.nonzero(active[at])
    row, first = at[of], active[at].argmax(axis=1)[of]
    wide = width[row].astype("<i8")
    offset = rows["stride"][row] * (lane % wide - first % wide) + pitch[row] * (lane // wide - first // wide)
    lanes[begin[row] + (active[at].cumsum(axis=1) - 1)[of, lane]] = rows["base"][row] + offset.view("<u8")
    rows["lanes"], rows["stride"] = lanes, numpy.where(pitched, STRIDE_LANES, rows["stride"])
    rows["base"] = numpy.where(pitched | listed, begin.astype("<u8"), rows["base"])


def _expand(rows, width, pitch):
    """Makes a row of each request, where rows are several."""
    several = width > 1
    if (width > SPAN_MOST).any() or (pitch[several] % 128).any():
        raise Error(f"a row of more than {SPAN_MOST} requests, or of some that are not lines apart")
    counts = numpy.where(several, width, 1).astype("<i8")
    row = numpy.repeat(numpy.arange(len(width)), counts)
    number = numpy.arange(len(row)) - (numpy.cumsum(counts) - counts)[row]
    rows = {name: column[row] for name, column in rows.items()}
    rows["address"] = rows["address"] + (number * numpy.where(several, pitch, 0)[row]).view("<u8")
    return rows


def _open(path):
    if hasattr(path, "read"):
        return path, None
    if path == "-":
        return sys.stdin.buffer, None
    with open(path, "rb") as file:
        tool = PACKED.get(file.read(2))
    if not tool:
        return open(path, "rb"), None
    process = subprocess.Popen([tool, "-dcq", "--", path], stdout=subprocess.PIPE)
    return process.stdout, process


def _events(path):
    file, process = _open(path)
    try:
        try:
            kernel = False
            for kind, *rest in _records(file):
                if kind in ("gpu", "kernel", "count"):
                    rest[0].keys()
                if kind == "kernel":
                    kernel = 0 <= operator.index(rest[0]["id"]) < 2**64 and isinstance(rest[0]["name"], str)
                if kind in ("kernel", *COLUMNS) and not kernel:
                    raise Error("rows of a kernel that was never announced, or has no id and name")
                if kind == "count" and not (rest[0]["stage"] and "kernel" in rest[0]):
                    raise Error("counts of no stage")
                if kind in COLUMNS:
                    rows = _rows(kind, *rest)
                    rest = [len(rows["op"]), rows]
                yield kind, *rest
        except Error as error:
            raise Error(f"{path}: {error}" if isinstance(path, str) else str(error)) from None
        except (msgpack.exceptions.UnpackException, ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
            raise Error(f"{path}: a record that is damaged: {error!r}" if isinstance(path, str) else f"a record that is damaged: {error!r}") from None
    finally:
        if file is not path and file is not sys.stdin.buffer:
            file.close()
        if process:
            process.wait()


def batches(path):
    """The rows of a stream batch by batch: (the launch's record, "access" or "request", {column: array}). The stream is
    whole only if this ends without an Error."""
    kernel = None
    for kind, *rest in _events(path):
        if kind == "kernel":
            kernel = rest[0]
        elif kind in COLUMNS:
            yield kernel, kind, rest[1]


class Trace:
    """A stream that was read: `kernels`, `counts` and `gpu` as their records are, and the rows of each kind."""

    def __init__(self):
        self.history, self.gpu, self.kernels, self.counts = [], {}, [], []
        self._batches = {"access": [], "request": []}

    def _kind(self, kind):
        found = [k for k in COLUMNS if self._batches[k]]
        if kind is None and len(found) > 1:
            raise Error("the stream has accesses and requests: name the kind, 'access' or 'request'")
        return kind or (found[0] if found else "request")

    def to_numpy(self, kind=None):
        """The rows as arrays by column, with the launch's id in `kernel`. Of accesses, `base` is the address of the lowest
        active lane in every row, and addresses without a stride are left out; `batches` has them."""
        kind = self._kind(kind)
        parts = self._batches[kind]
        names = [name for name in ("kernel", *COLUMNS[kind]) if any(name in part for part in parts)]
        return {name: numpy.concatenate([part[name] if name in part else numpy.zeros(len(part["kernel"]), COLUMNS[kind][name])
                                         for part in parts]) for name in names}

    def to_pandas(self, kind=None):
        """The same as a DataFrame, with names in place of the numbers of operations and states."""
        import pandas
        kind = self._kind(kind)
        columns = self.to_numpy(kind)
        if not columns:
            columns = {"kernel": numpy.zeros(0, "<u8"), **{name: numpy.zeros(0, dtype) for name, dtype in COLUMNS[kind].items()}}
        frame = pandas.DataFrame(columns)
        numbers = numpy.unique(columns["op"])
        frame["op"] = pandas.Categorical.from_codes(numpy.searchsorted(numbers, columns["op"]), [op_name(int(n)) for n in numbers])
        if "status" in columns:
            frame["status"] = pandas.Categorical.from_codes(columns["status"], STATUSES)
        names = list(dict.fromkeys(kernel["name"] for kernel in self.kernels))
        number = {kernel["id"]: names.index(kernel["name"]) for kernel in self.kernels}
        codes = numpy.array([number[i] for i in columns["kernel"].tolist()], "i4") if len(frame) else []
        frame.insert(1, "name", pandas.Categorical.from_codes(codes, names))
        return frame

    def counts_to_pandas(self):
        """The counters that are numbers: a row for each launch, stage and counter."""
        import pandas
        rows = [(count["kernel"], count["stage"], name, value) for count in self.counts for name, value in count.items()
                if name not in ("kernel", "stage") and isinstance(value, int)]
        return pandas.DataFrame(rows, columns=["kernel", "stage", "counter", "value"])


def read(path):
    """Reads a whole stream: a file's name, "-", or a file opened for bytes. Raises Error if it is damaged or incomplete."""
    trace, kernel = Trace(), None
    for kind, *rest in _events(path):
        if kind == "gtrace":
            trace.history = rest[1].get("history", []) if len(rest) > 1 else []
        elif kind == "gpu":
            trace.gpu = rest[0]
        elif kind == "kernel":
            kernel = rest[0]
            trace.kernels.append(kernel)
        elif kind == "count":
            trace.counts.append(rest[0])
        elif kind in COLUMNS:
            rows = rest[1]
            lanes = rows.pop("lanes", None) if kind == "access" else None
            if lanes is not None:
                listed = rows["stride"] == STRIDE_LANES
                base = rows["base"].copy()
                base[listed] = lanes[base[listed].astype("i8")]
                rows["base"] = base
            rows["kernel"] = numpy.full(rest[0], kernel["id"], "<u8")
            trace._batches[kind].append(rows)
    return trace


GAINS = ("l1_sectors", "l2_sectors", "dram_sectors", "passes")  # of a finding


class Run(collections.namedtuple("Run", "findings counts gpu untraced said")):
    """What `run` found: the frames `findings` and `counts`; `gpu`, its name; `untraced`, the calls and flops of libraries
    that no count has; `said`, what gtrace and the program wrote to standard error."""


def _gtrace():
    """The program gtrace: of this clone, of this Python's installation, or as PATH has it."""
    here = os.path.dirname(os.path.abspath(__file__))
    folders = [os.path.join(here, os.pardir, "bin"), sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    found = shutil.which("gtrace", path=os.pathsep.join(folders)) or shutil.which("gtrace")
    if not found:
        raise Error(f"no program gtrace in {', '.join(map(os.path.normpath, folders))} or PATH")
    return found


def _frames(result):
    """The frames of what `gtrace run --json --all` prints."""
    import pandas
    rows = [{"kernel": kernel["kernel"], "name": kernel["name"],
             **{key: finding[key] for key in ("finding", "title", "place", "arrays", "text", "share")},
             **{gain: finding["gain"].get(gain, {}).get("value") for gain in GAINS}, "command": finding["command"]}
            for kernel in result["kernels"] for finding in kernel["findings"]]
    findings = pandas.DataFrame(rows, columns=["kernel", "name", "finding", "title", "place", "arrays", "text", "share", *GAINS, "command"])
    counts = [(kernel["kernel"], kernel["name"], kernel.get("launches", 1), stage["stage"], name, value)
              for kernel in result["report"]["kernels"] for stage in kernel["stages"] for name, value in stage["counters"].items()
              if isinstance(value, int)]
    return (findings.astype({gain: "UInt64" for gain in GAINS}),
            pandas.DataFrame(counts, columns=["kernel", "name", "launches", "stage", "counter", "value"]))


def run(program, *arguments, gpu=None, kernel=None, sample=None, keep_l2=False, stub=()):
    """What costs a CUDA program most, without a GPU: a Run, whose frames have every finding and the counters of all stages,
    a kernel's launches together. The program may also be a source, a trace or a stream; options are those of gtrace run (gtrace(1)), and
    `stub` is a plug-in or a list of them. Raises Error if it fails, with what was said."""
    options = [("--gpu", gpu), ("--kernel", kernel), ("--sample", sample), *(("--stub", name) for name in ([stub] if isinstance(stub, str) else stub))]
    command = [_gtrace(), "run", "--json", "--all", *(str(word) for option in options if option[1] is not None for word in option),
               *(["--keep-l2"] if keep_l2 else []), "--", os.fspath(program), *map(os.fspath, arguments)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    said = done.stderr.decode(errors="replace")
    if done.returncode != 0:
        raise Error(f"gtrace run ended with status {done.returncode}: {said.strip()}")
    result = json.loads(done.stdout)
    return Run(*_frames(result), result["gpu"], result["untraced"], said)
