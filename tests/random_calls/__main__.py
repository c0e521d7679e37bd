# SPDX-License-Identifier: MIT
"""Random calls of CUDA's API, held to plain models of what its documentation says. To be run by gtrace-record:

  gtrace-record --ignore-unsupported python3 tests/random_calls copies --seed 1 --cases 20

copies      copies and fills between all kinds of memory and arrays (copies.py)
fetches     fetches from textures of all shapes, formats, filters and address modes (fetches.py)
graphs      graphs within graphs, with conditional nodes, changed and updated (graphs.py)
products    cuBLAS: vectors, matrices, batches (products.py); wants gtrace-record --stub cublas
matmuls     cublasLtMatmul: types, layouts, batches, epilogues (matmuls.py); the same
factors     cuBLAS: factorizations of batches, and what is solved by them (factors.py); the same
transforms  cuFFT: of one to three dimensions, in all layouts (transforms.py); wants --stub cufft

Case n of a seed is the same whatever comes before it: --first 17 --cases 1. The last line counts what was compared, and what differs.
"""

import argparse
import importlib
import random
import sys


def main():
    parser = argparse.ArgumentParser(prog="random_calls")
    parser.add_argument("what", choices=("copies", "fetches", "graphs", "products", "factors", "matmuls", "transforms"))
    parser.add_argument("--seed", default="1")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cases", type=int, default=20)
    options = parser.parse_args()
    check = importlib.import_module(options.what).check
    compared = different = 0
    for case in range(options.first, options.first + options.cases):
        n, differences = check(random.Random("%s %s %d" % (options.what, options.seed, case)))
        compared += n
        different += len(differences)
        for difference in differences[:3]:
            print("case %d: %s" % (case, difference))
    print("%s: %d compared, %d differ" % (options.what, compared, different))
    return different > 0


sys.exit(main())
