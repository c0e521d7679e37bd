# SPDX-License-Identifier: MIT
"""A plain reader of the Parquet files that gtrace-cat writes, by the format's own description (parquet.thrift), and its
comparison with the module gtrace on the same stream.
usage: parquet.py STREAM PARQUET [GROUPS]"""
import struct, subprocess, sys
import gtrace


class Compact:
    """Thrift's compact protocol: a struct is {number: value}."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def value(self, kind):
        if kind in (5, 6):
            number = self.varint()
            return number >> 1 ^ -(number & 1)
        if kind == 8:
            length = self.varint()
            self.at += length
            return bytes(self.data[self.at - length:self.at])
        if kind == 9:
            byte = self.data[self.at]
            self.at += 1
            n = byte >> 4 if byte >> 4 < 15 else self.varint()
            return [self.value(byte & 15) for _ in range(n)]
        assert kind == 12, kind
        fields, number = {}, 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            if byte == 0:
                return fields
            assert byte >> 4
            number += byte >> 4
            fields[number] = self.value(byte & 15)


def levels(page, at, n):
    length, = struct.unpack_from("<I", page, at)
    reader, found = Compact(page, at + 4), []
    while reader.at < at + 4 + length:
        header = reader.varint()
        assert header & 1 == 0, "runs only"
        found += [page[reader.at]] * (header >> 1)
        reader.at += 1
    assert len(found) == n
    return found, at + 4 + length


def values(page, at, kind, n):
    if kind in (1, 2):
        size = 4 * kind
        assert len(page) - at == size * n
        return list(struct.unpack_from(f"<{n}{'iq'[kind - 1]}", page, at))
    found = []
    for _ in range(n):
        length, = struct.unpack_from("<I", page, at)
        found.append(page[at + 4:at + 4 + length].decode())
        at += 4 + length
    assert at == len(page)
    return found


def read(data):
    assert data[:4] == data[-4:] == b"PAR1"
    length, = struct.unpack("<I", data[-8:-4])
    footer = Compact(data, len(data) - 8 - length).value(12)
    unsigned = {e[4].decode(): {11: 32, 12: 32, 13: 32, 14: 64}.get(e.get(6)) for e in footer[2]}
    table = {}
    for group in footer[4]:
        for chunk in group[1]:
            about = chunk[3]
            name, nested = about[3][0].decode(), len(about[3]) > 1
            header = Compact(data, about[9])
            page = header.value(12)
            packed = data[header.at:header.at + page[3]]
            assert about[4] == 6 and header.at + page[3] - about[9] == about[7] and header.at - about[9] + page[2] == about[6]
            plain = subprocess.run(["zstd", "-dcq"], input=packed, stdout=subprocess.PIPE, check=True).stdout
            assert len(plain) == page[2] and page[5][1] == about[5]
            at, there = 0, [1] * about[5]
            if nested:
                repeated, at = levels(plain, 0, about[5])
                there, at = levels(plain, at, about[5])
            found = values(plain, at, about[1], sum(there))
            bits = unsigned[about[3][-1].decode()]
            if bits:
                found = [v % 2**bits for v in found]
            if nested:
                lists, rest = [], iter(found)
                for again, is_there in zip(repeated, there):
                    if not again:
                        lists.append([])
                    if is_there:
                        lists[-1].append(next(rest))
                found = lists
            assert len(found) == group[3]
            table.setdefault(name, []).extend(found)
    assert all(len(column) == footer[3] for column in table.values())
    return table, len(footer[4])


table, groups = read(open(sys.argv[2], "rb").read())
assert len(sys.argv) < 4 or groups == int(sys.argv[3]), groups
trace = gtrace.read(sys.argv[1])
rows = trace.to_numpy()
names = {kernel["id"]: kernel["name"] for kernel in trace.kernels}
if rows:
    rows["address"] = rows.pop("base") if "base" in rows else rows["address"]
    rows.setdefault("hint", rows["warp"] * 0)
for name, column in rows.items():
    expected = [gtrace.op_name(op) for op in column.tolist()] if name == "op" else column.tolist()
    assert table.pop(name) == expected, name
assert table.pop("name", []) == ([names[i] for i in rows["kernel"].tolist()] if rows else [])
lanes = table.pop("lanes", None)
if lanes is not None and "size" in rows:
    listed = []
    for _, _, batch in gtrace.batches(sys.argv[1]):
        listed += batch["lanes"].tolist() if "lanes" in batch else []
    assert [address for row in lanes for address in row] == listed
    for row, mask, stride in zip(lanes, rows["mask"].tolist(), rows["stride"].tolist()):
        assert len(row) == (bin(mask).count("1") if stride == gtrace.STRIDE_LANES else 0)
assert not rows or not table, table.keys()
print(len(rows.get("kernel", [])), "rows")
