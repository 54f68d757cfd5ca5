#!/usr/bin/env python3
"""Whether one --connect mode is faster than another over whole models: ratios
with bounds, in one table in Markdown.

    two_modes.py MODEL... [--tilewright=BIN] [--connect=register,tilegraph]
        [--threads=1,2] [--rounds=15] [--seconds=0.3] [--control=MODEL]
        [--flags=FLAGS] [--prefix=CMD] [--timeout=600] [--keep=FOLDER]

MODEL is an .onnx or a folder with model.onnx. For every number of threads each
model is compiled in both modes, planned for that many. Where both give the same
file there is nothing to measure: the table says so. Else both are measured in
turns, one process each, in a round the one right after the other, and rounds
begin with either in turn. A round gives one ratio, of the first mode's least
time over the second's, CPU time at one thread and wall time at more: above 1
the second mode is faster. A model's ratio is the median over the rounds, its
bounds are the 2.5th and 97.5th percentile of that median when rounds are drawn
again (bootstrap, 4,000 draws, always the same ones). The control is one model
in the first mode beside a copy of the same file: what equal files give.

FLAGS go to compile, CMD stands before every measurement; compiled files stay in
FOLDER if one is given. Exit status 1 if a model failed; the others are measured
all the same.
"""
import argparse
import filecmp
import os
import random
import shlex
import shutil
import statistics
import sys
import tempfile

from ablation import Failed, call, call_json, geometric_mean, name_of

DRAWS = 4000


def bounds(statistic, samples):
    """`statistic` of the samples, and where it lies when each is drawn again."""
    drawn = random.Random(0)
    again = sorted(
        statistic([drawn.choices(sample, k=len(sample)) for sample in samples])
        for _ in range(DRAWS))
    return (statistic(samples), again[int(0.025 * DRAWS)],
            again[int(0.975 * DRAWS)])


def mean_of_medians(samples):
    return geometric_mean([statistics.median(sample) for sample in samples])


def measure(args, file, threads):
    run = call_json([*shlex.split(args.prefix), args.tilewright, "benchmark",
                     file, f"--threads={threads}", f"--seconds={args.seconds}",
                     "--json"], args.timeout)
    # A run shorter than the clock of CPU time is exact may have none.
    least = run["cpu_ms"] if threads == 1 else 0
    return least if least > 0 else run["min_ms"]


def measure_interleaved(args, name, files, threads):
    """Per round the times of both files."""
    rounds = []
    for number in range(args.rounds):
        times = {}
        for at in (0, 1) if number % 2 == 0 else (1, 0):
            times[at] = measure(args, files[at], threads)
        rounds.append((times[0], times[1]))
        print(f"{name}, threads {threads}, round {number}: "
              f"{times[0]:.3f}, {times[1]:.3f} ms", file=sys.stderr, flush=True)
    return rounds


def row(name, threads, rounds):
    ratios = [first / second for first, second in rounds]
    middle, low, high = bounds(mean_of_medians, [ratios])
    least = [min(times) for times in zip(*rounds)]
    return (f"| {name} | {threads} | {len(rounds)} | {least[0]:.3f} | "
            f"{least[1]:.3f} | {middle:.3f} | {low:.3f} | {high:.3f} |"), ratios


def compile_both(args, model, name, threads, folder):
    files = []
    for mode in args.modes:
        files.append(os.path.join(folder, f"{name}.{mode}.{threads}.tw"))
        call([args.tilewright, "compile", model, "-o", files[-1],
              f"--threads={threads}", f"--connect={mode}",
              *shlex.split(args.flags)], args.timeout)
    return files


def mean_line(threads, samples, equal):
    middle, low, high = bounds(mean_of_medians, samples)
    # Equal files are as fast as each other.
    of_all = len(samples) + equal
    everything = (value ** (len(samples) / of_all)
                  for value in (middle, low, high))
    return (f"- {threads} thread{'s' * (threads > 1)}: geometric mean of "
            f"{len(samples)} models {middle:.3f} ({low:.3f} to {high:.3f}); "
            f"with {equal} of equal files " +
            "{:.3f} ({:.3f} to {:.3f})".format(*everything))


def compare(args, models, folder):
    """The rows of the table, the lines below it, and whether all went well."""
    rows, means, well = [], [], True
    for threads in args.threads:
        samples, equal = [], []
        for model in models:
            name = name_of(model)
            try:
                files = compile_both(args, model, name, threads, folder)
                if filecmp.cmp(*files, shallow=False):
                    equal.append(name)
                    continue
                text, ratios = row(
                    name, threads,
                    measure_interleaved(args, name, files, threads))
            except Failed as error:
                print(f"two_modes: {name}: {error}", file=sys.stderr)
                well = False
                continue
            rows.append(text)
            samples.append(ratios)
        copy = os.path.join(folder, "control.tw")
        name = name_of(args.control or models[0])
        file = compile_both(args, args.control or models[0], name, threads,
                            folder)[0]
        shutil.copyfile(file, copy)
        rows.append(row(f"control: {name}", threads, measure_interleaved(
            args, "control", [file, copy], threads))[0])
        if samples:
            means.append(mean_line(threads, samples, len(equal)))
        if equal:
            means.append(f"- {threads} thread{'s' * (threads > 1)}, equal "
                         f"files: {', '.join(equal)}")
    return rows, means, well


def parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--tilewright", default="bazel-bin/tools/tilewright")
    parser.add_argument("--connect", default="register,tilegraph")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--control", default="")
    parser.add_argument("--flags", default="")
    parser.add_argument("--prefix", default="")
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--keep", default="")
    args = parser.parse_args(arguments)
    args.modes = args.connect.split(",")
    if len(set(args.modes)) != 2:
        parser.error("--connect takes two modes")
    try:
        args.threads = [int(count) for count in args.threads.split(",")]
    except ValueError:
        parser.error(f"--threads={args.threads}: not numbers")
    if args.rounds < 1 or min(args.threads) < 1:
        parser.error("--rounds and --threads are at least 1")
    return args


def main(arguments):
    args = parse(arguments)

    def file_of(model):
        return os.path.join(model, "model.onnx") if os.path.isdir(model) \
            else model
    models = [file_of(model) for model in args.models]
    if args.control:
        args.control = file_of(args.control)
    with tempfile.TemporaryDirectory() as folder:
        if args.keep:
            os.makedirs(args.keep, exist_ok=True)
        rows, means, well = compare(args, models, args.keep or folder)
    first, second = args.modes
    print("\n".join([
        f"| model | threads | rounds | {first} ms | {second} ms | "
        f"{first} / {second} | lower bound | upper bound |", "|---" * 8 + "|",
        *rows, "", *means]))
    return 0 if well else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (Failed, OSError) as error:
        print(f"two_modes: {error}", file=sys.stderr)
        sys.exit(2)
