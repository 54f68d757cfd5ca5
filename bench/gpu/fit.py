#!/usr/bin/env python3
"""Fits the constants of an H100's cost model to what gpu_check measured there.

    gpu_check > gpu.md                                    # on the GPU
    bench/gpu:kernel_counts SPEC > counts.tsv             # the spec that gpu.md begins with
    bench/gpu/fit.py gpu.md counts.tsv

Prints the constants, the error of every kernel, and the errors if each family is
left out of the fit that predicts it.  The model is that of
tilegraph/gpu/gpu_tile_seconds.cc:

    launch + waits * latency + (issue^p + lines^p + outside^p)^(1/p)
"""

import argparse
import csv
import math
import statistics
import sys

# An H100: fit another GPU with its own.
CORES, SCHEDULERS = 132, 4
CLOCK_PER_US = 1980          # what the spec's rates are made of
MEMORY_BYTES_PER_US = 3.03e6  # a copy of 256 MiB

# Constant: what it starts with, what is tried.
GRID = {
    "issue_of_one_warp": (0.6, [0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8]),
    "overlap_exponent": (2, [1, 1.25, 1.5, 1.75, 2, 2.5, 3, 5]),
    "l2_bytes_per_us": (5.5e6, [4.5e6, 5e6, 5.5e6, 6e6, 7e6, 9e6]),
    "launch_us": (0.9, [0.7, 0.8, 0.9, 1, 1.1, 1.2]),
    "latency_us": (0.6, [0.4, 0.5, 0.6, 0.7, 0.8]),
}
# A kernel that the model has no word for shall not decide all others.
MOST_LOG_ERROR = 0.5


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def measured(path):
    """(family, graph, storage) -> microseconds of its kernels, in order."""
    times = {}
    title = ""
    for line in open(path):
        if line.startswith("## "):
            title = line[3:].strip()
        row = cells(line) if line.startswith("|") else []
        if title == "Generated kernels" and len(row) > 8 and row[3].isdigit():
            times.setdefault((row[0], row[1], row[2]), []).append(float(row[8] or row[7]))
        if title.startswith("Products") and len(row) > 4 and row[0].isdigit():
            times[("product", row[0], "fp32")] = [float(row[3]) * 1e3]
    return times


def kernels(times_path, counts_path):
    times = measured(times_path)
    found = []
    for row in csv.DictReader(open(counts_path), delimiter="\t"):
        left = times.get((row["family"], row["graph"], row["storage"]))
        if not left:
            continue
        us = left.pop(0)
        if not row["instructions"]:
            continue  # no tile was planned
        kernel = {name: float(value) for name, value in row.items()
                  if name not in ("family", "graph", "storage")}
        found.append(dict(kernel, us=us, family=row["family"],
                          name=f"{row['family']}, {row['graph']}, {row['storage']}"))
    return found


def waves(kernel, share):
    """How many times as long blocks take as all cores at their full rate."""
    blocks, resident = int(kernel["blocks"]), int(kernel["resident"])
    full, left = divmod(blocks, resident * CORES)
    time = lambda n: n / min(1, n * share)
    total = full * time(resident) + (time(math.ceil(left / CORES)) if left else 0)
    return total * CORES / blocks


def predicted(kernel, constants):
    warps = math.ceil(kernel["threads"] / 32)
    share = min(1, warps / SCHEDULERS * constants["issue_of_one_warp"])
    issue = (kernel["instructions"] / (SCHEDULERS * CORES * CLOCK_PER_US) * waves(kernel, share))
    lines = (kernel["lines"] + kernel["turns"]) / (CORES * CLOCK_PER_US) * waves(kernel, 1)
    outside = max(kernel["near_bytes"] / constants["l2_bytes_per_us"],
                  kernel["memory_bytes"] / MEMORY_BYTES_PER_US)
    p = constants["overlap_exponent"]
    on_core = math.ceil(kernel["blocks"] / CORES)
    rounds = math.ceil(kernel["blocks"] / (CORES * kernel["resident"]))
    waits = max(1, rounds * kernel["waits"] / min(kernel["resident"], on_core))
    return (constants["launch_us"] + waits * constants["latency_us"] +
            (issue ** p + lines ** p + outside ** p) ** (1 / p))


def by_datasheet(kernel):
    """Of a device of which only the datasheet is known: what takes longest hides
    all else."""
    issue = kernel["instructions"] / (SCHEDULERS * CORES * CLOCK_PER_US)
    turns = kernel["turns"] / (CORES * CLOCK_PER_US)
    outside = max(kernel["near_bytes"] / 9e6, kernel["memory_bytes"] / 3.352e6)
    return 4 + waves(kernel, 1) * max(issue, turns, outside)


def score(constants, some):
    return sum(min(MOST_LOG_ERROR, abs(math.log(predicted(kernel, constants) / kernel["us"])))
               for kernel in some)


def fit(some):
    constants = {name: start for name, (start, _) in GRID.items()}
    best = score(constants, some)
    for _ in range(5):
        for name, (_, values) in GRID.items():
            for value in values:
                other = dict(constants, **{name: value})
                if score(other, some) < best - 1e-9:
                    best, constants = score(other, some), other
    return constants


def errors(constants, some):
    return [abs(predicted(kernel, constants) / kernel["us"] - 1) for kernel in some]


def summary(values):
    ordered = sorted(values)
    return (f"median {100 * statistics.median(ordered):.0f} %, "
            f"90th percentile {100 * ordered[int(0.9 * len(ordered))]:.0f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("times")
    parser.add_argument("counts")
    arguments = parser.parse_args()
    found = kernels(arguments.times, arguments.counts)
    if not found:
        sys.exit(f"{arguments.times} and {arguments.counts} have no kernel in common")
    constants = fit(found)
    print(f"{len(found)} kernels: {constants}\nof all: {summary(errors(constants, found))}")
    datasheet = [abs(by_datasheet(kernel) / kernel["us"] - 1) for kernel in found]
    print(f"by the datasheet: {summary(datasheet)}")
    left_out = []
    for family in sorted({kernel["family"] for kernel in found}):
        own = [kernel for kernel in found if kernel["family"] == family]
        rest = fit([kernel for kernel in found if kernel["family"] != family])
        left_out += errors(rest, own)
        print(f"  {family}, left out: {summary(errors(rest, own))}")
    print(f"left out: {summary(left_out)}\n\n| kernel | measured us | by the fit | ratio |\n"
          "|---|---|---|---|")
    for kernel in found:
        us = predicted(kernel, constants)
        print(f"| {kernel['name']} | {kernel['us']:.2f} | {us:.2f} | {us / kernel['us']:.2f} |")


if __name__ == "__main__":
    main()
