# SPDX-License-Identifier: MIT
"""The passes that gcoalesce gives accesses of shared memory, beside the wavefronts in which an A100's and an A40's L1 deliver the same global loads.

usage: strides.py TABLE

Each row of the table (tests/reference/strides.csv) is a warp's eight loads, four elements apart. Here they are stores, since loads of global
memory are not served for pairs of lanes with one address, as those of shared memory are. Exits 1 at the first difference.
"""
import csv
import subprocess
import sys

SIZES = {"float": 4, "double": 8}


def element(row, lane):
    """The lane's element, as the benchmark has it: rows of so many lanes, or a stride."""
    wide, pitch = int(row["elements"]), int(row["pitch"])
    return lane % wide + lane // wide * pitch if row["pattern"] == "block" else lane * wide


def kernel(number, row):
    yield f"#kernel\tid={number}\tname=k\tgrid=1,1,1\tblock=32,1,1"
    yield "#" + "\t".join("block warp an pc op size mask base stride lanes kernel".split())
    size = SIZES[row["type"]]
    for access in range(8):
        lanes = ",".join(hex(size * (element(row, lane) + 4 * access)) for lane in range(32))
        yield f"0\t0\t{access}\t0\tstore.shared\t{size}\t0xffffffff\t-\t-\t{lanes}\t{number}"


def main():
    table = list(csv.DictReader(open(sys.argv[1])))
    text = "\n".join(line for number, row in enumerate(table, 1) for line in kernel(number, row)) + "\n"
    out = subprocess.run("gtrace-cat --from | gcoalesce --quiet --gpu a100 | gtrace-cat --no-rows", shell=True, input=text, text=True, check=True, capture_output=True).stdout
    counts = [dict(entry.split("=", 1) for entry in line.split("\t")[1:]) for line in out.splitlines() if line.startswith("#count\tstage=coalesce")]
    if len(counts) != len(table):
        sys.exit(f"{len(counts)} kernels, expected {len(table)}")
    for row, count in zip(table, counts):
        if int(count["bank_passes"]) != 8 * float(row["data_wavefronts"]):
            sys.exit(f"{row}: {int(count['bank_passes']) / 8} passes")
    print(f"{len(table)} patterns agree")


main()
