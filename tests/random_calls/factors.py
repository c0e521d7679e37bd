# SPDX-License-Identifier: MIT
"""Random calls of cuBLAS that factor many matrices at once: LU, QR, and what is solved by them; triangles that lose and get their gaps.

What a factorization gives is held to what it is for: its factors multiplied are the matrix, a solution times the matrix is the right side. A matrix is
dominated by its diagonal, so that it can be solved without pivots; some have rows exchanged, or a column of zeros.
"""

from products import *


def close(is_, expected):
    most = max([1] + [abs(v) for row in expected for v in row])
    return all(abs(a - b) <= 1e-3 * most for one, other in zip(is_, expected) for a, b in zip(one, other))


def taken(call, operand):
    """The rows that a call has left in a matrix. They are expected from here on; gaps are as they were."""
    was = operand.type.unpacked(download(operand.at, len(operand.data) * operand.type.bytes))
    for j in range(operand.n):
        for i in range(operand.m):
            operand[i, j] = was[operand.place((i, j))]
    return whole(operand)


def table(call, matrices):
    return addresses_of(call, [m.at for m in matrices])


def integers(call, n):
    at = new("cudaMalloc", 4 * max(1, n))
    upload(b"\x7f" * 4 * max(1, n), at)
    call.kept.append(at)
    return c_void_p(at)


def read_integers(at, n):
    return list(struct.unpack("%di" % n, download(at.value, 4 * n))) if n else []


def make(call, name, *arguments):
    call.make("cublas%s%s" % (call.type.letter, name), *arguments, has_wide=False)


def batch(call, m, n, count):
    """As many matrices, with the same leading dimension."""
    matrices = []
    for _ in range(count):
        matrices.append(call.matrix(m, n))
        if len(matrices) > 1:
            same_leading(call, matrices[:1], matrices[-1:])
    return matrices, matrices[0].leading if matrices else max(1, m)


def dominated(call, matrices, exchanged=False):
    """Makes the diagonals large; perhaps puts the rows in another order."""
    for a in matrices:
        for i in range(min(a.m, a.n)):
            a[i, i] = complex(4 * a.n * call.draw.choice((1, -1)) + i)
        if exchanged:
            rows = call.draw.sample(whole(a), a.m)
            for i in range(a.m):
                for j in range(a.n):
                    a[i, j] = rows[i][j]
        call.again(a)


def identity(n):
    return [[1 + 0j if i == j else 0j for j in range(n)] for i in range(n)]


def lower_of(lu):
    return [[lu[i][j] if j < i else 1 + 0j if i == j else 0j for j in range(len(lu))] for i in range(len(lu))]


def upper_of(rows, n):
    return [[rows[i][j] if j >= i else 0j for j in range(n)] for i in range(min(len(rows), n))]


def exchanged(rows, pivots):
    rows = list(rows)
    for i, pivot in enumerate(pivots):
        rows[i], rows[pivot - 1] = rows[pivot - 1], rows[i]
    return rows


def lu_and_solutions(call):
    """getrf, and getrs or getri of what it left."""
    draw = call.draw
    n, count, pivoting = draw.randrange(6), draw.randrange(1, 4), draw.random() < .7
    matrices, leading = batch(call, n, n, count)
    dominated(call, matrices, pivoting)
    zeros = [draw.randrange(n) if n and draw.random() < .2 else None for _ in matrices]
    for a, zero in zip(matrices, zeros):
        for i in range(n if zero is not None else 0):
            a[i, zero] = 0j
        call.again(a)
    old = [whole(a) for a in matrices]
    pivots, info = integers(call, n * count), integers(call, count)
    make(call, "getrfBatched", n, table(call, matrices), leading, pivots if pivoting else c_void_p(0), info, count)
    factors = [taken(call, a) for a in matrices]
    said, infos = read_integers(pivots, n * count), read_integers(info, count)
    found = []
    for one, (lu, rows, zero) in enumerate(zip(factors, old, zeros)):
        own = said[one * n:(one + 1) * n] if pivoting else []
        if not close(product(lower_of(lu), upper_of(lu, n)), exchanged(rows, own)):
            found.append("%s: matrix %d: L U is not the matrix" % (call.name, one))
        most = math.sqrt(2) if call.type.complex else 1  # LAPACK compares the sums of both parts
        if pivoting and any(abs(v) > most + 1e-5 for i, row in enumerate(lu) for v in row[:i]):
            found.append("%s: matrix %d: a pivot is not the largest" % (call.name, one))
        if infos[one] != (0 if zero is None else zero + 1):
            found.append("%s: matrix %d: info is %d" % (call.name, one, infos[one]))
    if found or any(zero is not None for zero in zeros) and draw.random() < .5:
        return found
    return (solutions if draw.random() < .5 and zeros == [None] * count else inverses)(call, matrices, leading, old, zeros, pivots if pivoting else c_void_p(0))


def solutions(call, matrices, leading, old, zeros, pivots):
    draw, n = call.draw, len(old[0])
    rights, operation = draw.randrange(4), draw.choice((N, T, C))
    right, leading_right = batch(call, n, rights, len(matrices))
    sides, info = [whole(b) for b in right], (c_int * 1)(7)
    make(call, "getrsBatched", flag(operation), n, rights, table(call, matrices), leading, pivots, table(call, right), leading_right, info, len(matrices))
    found = ["%s: info is %d" % (call.name, info[0])] if info[0] else []
    for rows, b, side in zip(old, right, sides):
        if not close(product(turned(rows, n, operation), taken(call, b)), side):
            found.append("%s: op(a) x is not b" % call.name)
    return found


def inverses(call, matrices, leading, old, zeros, pivots):
    n, count = len(old[0]), len(matrices)
    into, leading_into = batch(call, n, n, count)
    before, info = [whole(c) for c in into], integers(call, count)
    make(call, "getriBatched", n, table(call, matrices), leading, pivots, table(call, into), leading_into, info, count)
    return inverted(call, old, zeros, into, before, read_integers(info, count))


def inverted(call, old, zeros, into, before, infos):
    found = []
    for rows, zero, c, was, said in zip(old, zeros, into, before, infos):
        result = taken(call, c)
        if said != (0 if zero is None else zero + 1):
            found.append("%s: info is %d" % (call.name, said))
        elif not close(result if zero is not None else product(rows, result), was if zero is not None else identity(len(rows))):
            found.append("%s: not the inverse" % call.name)
    return found


def inverses_at_once(call):
    """matinv."""
    draw = call.draw
    n, count = draw.choice((0, 1, 2, 3, 5)), draw.randrange(4)
    matrices, leading = batch(call, n, n, count)
    dominated(call, matrices, True)
    into, leading_into = batch(call, n, n, count)
    old, before, info = [whole(a) for a in matrices], [whole(c) for c in into], integers(call, count)
    make(call, "matinvBatched", n, table(call, matrices), leading, table(call, into), leading_into, info, count)
    return inverted(call, old, [None] * count, into, before, read_integers(info, count))


def q_times(rows, taus, r):
    """H(1) H(2) ... r, where rows have the vectors below their diagonals."""
    m = len(rows)
    r = r + [[0j] * len(r[0]) for _ in range(m - len(r))] if r else [[0j] * 0 for _ in range(m)]
    for j in reversed(range(len(taus))):
        v = [0j] * j + [1 + 0j] + [rows[i][j] for i in range(j + 1, m)]
        for k in range(len(r[0])):
            by = taus[j] * sum((v[i].conjugate() * r[i][k] for i in range(m)), 0j)
            for i in range(m):
                r[i][k] -= by * v[i]
    return r


def qr(call):
    """geqrf."""
    draw = call.draw
    m, n, count = draw.randrange(1, 6), draw.randrange(1, 6), draw.randrange(1, 3)
    matrices, leading = batch(call, m, n, count)
    taus, _ = batch(call, min(m, n), 1, count)
    for tau in taus:  # vectors, which have no gaps
        tau.leading = min(m, n)
    old, info = [whole(a) for a in matrices], (c_int * 1)(7)
    make(call, "geqrfBatched", m, n, table(call, matrices), leading, table(call, taus), info, count)
    found = ["%s: info is %d" % (call.name, info[0])] if info[0] else []
    for a, tau, rows in zip(matrices, taus, old):
        result = taken(call, a)
        if not close(q_times(result, [row[0] for row in taken(call, tau)], upper_of(result, n)), rows):
            found.append("%s: Q R is not the matrix" % call.name)
        if any(abs(result[i][i].imag) > 0 for i in range(min(m, n))):
            found.append("%s: the diagonal of R is not real" % call.name)
    return found


def least_squares(call):
    """gels."""
    draw = call.draw
    n, rights, count = draw.randrange(1, 5), draw.randrange(3), draw.randrange(1, 3)
    m = n + draw.randrange(3)
    matrices, leading = batch(call, m, n, count)
    dominated(call, matrices)
    right, leading_right = batch(call, m, rights, count)
    old, sides, info, infos = [whole(a) for a in matrices], [whole(b) for b in right], (c_int * 1)(7), integers(call, count)
    make(call, "gelsBatched", flag(N), m, n, rights, table(call, matrices), leading, table(call, right), leading_right, info, infos, count)
    found = ["%s: info is %d" % (call.name, info[0])] if info[0] or any(read_integers(infos, count)) else []
    for a, rows, b, side in zip(matrices, old, right, sides):
        taken(call, a)
        x = taken(call, b)[:n]
        rest = [[p - q for p, q in zip(*pair)] for pair in zip(product(rows, x), side)]
        if not close(product(turned(rows, n, C), rest), [[0j] * rights for _ in range(n)]):
            found.append("%s: what is left is not normal to the columns" % call.name)
    return found


def packing(call):
    """trttp and tpttr."""
    draw, type_ = call.draw, call.type
    n, uplo, packs = draw.randrange(6), draw.choice((LOWER, UPPER)), draw.random() < .5
    a, p = call.matrix(n, n, in_triangle(uplo)), call.put(Packed(draw, type_, n, uplo))
    if packs:
        make(call, "trttp", flag(uplo), n, a, a.leading, p)
    else:
        make(call, "tpttr", flag(uplo), n, p, a, a.leading)
    source, to = (a, p) if packs else (p, a)
    for j in range(n):
        for i in range(n):
            if a.stored(i, j):
                to[i, j] = source[i, j]
    return []


def check(draw):
    return checked(draw, (lu_and_solutions, lu_and_solutions, inverses_at_once, qr, least_squares, packing))
