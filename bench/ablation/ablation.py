#!/usr/bin/env python3
"""Measures what fusing groups gains over whole models: each model compiled in
every mode, the results measured interleaved, one table in Markdown.

    ablation.py MODEL... --out=RUNS.jsonl [--table=FILE.md] [--minutes=N]
        [--tilewright=BIN] [--connect=none,register,tilegraph] [--records=DB]
        [--before=BIN] [--threads=1,2] [--turns=9] [--seconds=0.3]
        [--flags=FLAGS] [--prefix=CMD] [--timeout=600]

MODEL is an .onnx or a folder with model.onnx. The modes are those of
--connect, each a kind of plan; with --records one more, `measured`:
--connect=tilegraph with fusions that are measured, times kept in DB; with
--before one more, `before`: what another binary makes of the model, such as
one built before groups were fused, with its own defaults.

In a turn every mode is measured once, by a process of `tilewright benchmark`
of its own, one right after the other; each turn starts with another mode. So
what slows the machine down for longer than a turn slows all modes alike:
ratios are taken within a turn, and their median and quartiles are what counts.

A finished turn is a line of RUNS.jsonl: called again, the program goes on where
it was stopped. Turns of another binary or other flags do not count. Each model
may take its share of the N minutes that are left for it and those behind it;
turns for which no time is left are not run, and the table says how many were.
FLAGS go to compile and inspect; CMD stands before every measurement.

Exit status 1 if a model failed; the others are measured all the same.
"""
import argparse
import hashlib
import json
import math
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time


class Failed(Exception):
    pass


def call(command, timeout):
    """Runs `command` and returns what it prints."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=timeout,
                              text=True, check=False)
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{shlex.join(command)}: over {timeout} s") from error
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines()
        raise Failed(f"{shlex.join(command)}: exit {done.returncode}: "
                     f"{reason[-1] if reason else 'no message'}")
    return done.stdout


def call_json(command, timeout):
    text = call(command, timeout)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise Failed(f"{shlex.join(command)}: prints no JSON: {error}") \
            from error


class Clock:
    """When a model has had its share of the time, and when all is over."""

    def __init__(self, minutes, timeout):
        self.timeout = timeout
        self.end = time.monotonic() + 60 * minutes
        self.share_end = self.end

    def share(self, models_left):
        now = time.monotonic()
        self.share_end = now + (self.end - now) / models_left

    def left_in_share(self):
        return self.share_end - time.monotonic()

    def limit(self):
        """Seconds for one command."""
        left = self.end - time.monotonic()
        if left <= 0:
            raise Failed("no time is left")
        return min(self.timeout, left)


def flags_of(args, mode):
    if mode == "before":
        return []
    if mode == "measured":
        return ["--connect=tilegraph", f"--records={args.records}", "--measure",
                *shlex.split(args.flags)]
    return [f"--connect={mode}", *shlex.split(args.flags)]


def binary_of(args, mode):
    return args.before if mode == "before" else args.tilewright


def compile_model(args, clock, model, mode, to):
    """The facts of one compiled model, which lies at `to`."""
    flags, binary = flags_of(args, mode), binary_of(args, mode)
    made = call_json([binary, "compile", model, "-o", to, "--json", *flags],
                     clock.limit())
    facts = {field: made.get(field) for field in (
        "kernels", "launches", "arena_bytes", "compile_cpu_s")}
    facts["operand_bytes"] = made.get("bytes_moved")
    if mode == "before":  # whatever that one knows
        return facts
    plan = call_json([binary, "inspect", model, "--what=plan", "--json",
                      *flags], clock.limit())["plan"]
    # Scalars have no prediction.
    predicted = [g["predicted"] for g in plan["groups"] if "predicted" in g]
    return {
        **facts,
        "intermediate_bytes": plan["intermediate_bytes"],
        "memory_bytes": sum(p["memory_bytes"] for p in predicted),
        "shared_bytes": sum(p["shared_bytes"] for p in predicted),
        "fused": plan["fused"],
    }


def measure(args, clock, mode, file, threads):
    run = call_json([*shlex.split(args.prefix), binary_of(args, mode),
                     "benchmark", file, f"--threads={threads}",
                     f"--seconds={args.seconds}", "--json"], clock.limit())
    # One thread's CPU time: what others of the machine do is not in it. A run
    # shorter than that clock is exact may have none.
    least = run["cpu_ms"] if threads == 1 else 0
    return {"ms": least if least > 0 else run["min_ms"],
            "median_ms": run["median_ms"], "runs": run["runs"]}


class Runs:
    """The lines of RUNS.jsonl that count: key -> record."""

    def __init__(self, path, stamp):
        self.path, self.stamp, self.found = path, stamp, {}
        if not os.path.exists(path):
            return
        with open(path, encoding="utf-8") as file:
            text = file.read()
        lines = text.splitlines()
        for number, line in enumerate(lines):
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                if number + 1 < len(lines):
                    raise Failed(f"{path} line {number + 1}: no JSON") \
                        from None
                # Stopped while it was written.
                os.truncate(path, len(text.encode()) - len(line.encode()))
                continue
            if record["stamp"] == stamp:
                self.found[tuple(record["key"])] = record["value"]

    def of(self, *key):
        return self.found.get(key)

    def add(self, value, *key):
        self.found[key] = value
        line = json.dumps({"stamp": self.stamp, "key": key, "value": value})
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(line + "\n")


def name_of(model):
    path = pathlib.Path(model)
    return path.parent.name if path.name == "model.onnx" else path.stem


def ablate(args, runs, clock, model, name):
    # Turn by turn at every number of threads, so that a share of the time that
    # is too short gives fewer turns of each.
    wanted = [(threads, turn) for turn in range(args.turns)
              for threads in args.threads
              if runs.of(name, "turn", threads, turn) is None]
    if not wanted and runs.of(name, "facts") is not None:
        return
    if len(wanted) < len(args.threads) * args.turns and \
            clock.left_in_share() <= 0:
        return
    with tempfile.TemporaryDirectory() as folder:
        files = {mode: os.path.join(folder, mode + ".tw")
                 for mode in args.modes}
        facts = {mode: compile_model(args, clock, model, mode, file)
                 for mode, file in files.items()}
        if runs.of(name, "facts") is None:
            runs.add(facts, name, "facts")
        longest = 0
        for threads, turn in wanted:
            first_of_all = all(runs.of(name, "turn", threads, t) is None
                               for t in range(args.turns))
            if not first_of_all and clock.left_in_share() < longest:
                continue
            started = time.monotonic()
            first = turn % len(args.modes)
            order = args.modes[first:] + args.modes[:first]
            measured = {mode: measure(args, clock, mode, files[mode], threads)
                        for mode in order}
            runs.add(measured, name, "turn", threads, turn)
            longest = max(longest, time.monotonic() - started)
            times = ", ".join(f"{mode} {measured[mode]['ms']:.3f}"
                              for mode in args.modes)
            print(f"{name}, threads {threads}, turn {turn}: {times} ms",
                  file=sys.stderr, flush=True)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def quartiles(values):
    if len(values) < 2:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def pairs(modes):
    """(slower, faster) as it is hoped: each mode beside `register`."""
    base = "register" if "register" in modes else modes[-1]
    at = modes.index(base)
    return [(mode, base) if i < at else (base, mode)
            for i, mode in enumerate(modes) if i != at]


def mib(fact, field):
    value = fact.get(field)
    return "-" if value is None else f"{value / 2**20:.1f}"


def times_table(args, runs, names):
    modes, compared = args.modes, pairs(args.modes)
    out = ["| model | threads | turns | " +
           " | ".join(f"{m} ms | median" for m in modes) + " | " +
           " | ".join(f"{a} / {b} | quartiles" for a, b in compared) + " |",
           "|---" * (3 + 2 * len(modes) + 2 * len(compared)) + "|"]
    means = []
    for threads in args.threads:
        ratios = {pair: {} for pair in compared}
        for name in names:
            turns = [runs.of(name, "turn", threads, turn)
                     for turn in range(args.turns)]
            turns = [turn for turn in turns if turn is not None]
            if not turns:
                continue
            cells = [name, str(threads), str(len(turns))]
            for mode in modes:
                least = min(turn[mode]["ms"] for turn in turns)
                middle = statistics.median(
                    turn[mode]["median_ms"] for turn in turns)
                cells += [f"{least:.3f}", f"{middle:.3f}"]
            for slower, faster in compared:
                paired = [turn[slower]["ms"] / turn[faster]["ms"]
                          for turn in turns]
                median = statistics.median(paired)
                ratios[slower, faster][name] = median
                low, high = quartiles(paired)
                cells += [f"{median:.3f}", f"{low:.2f} to {high:.2f}"]
            out.append("| " + " | ".join(cells) + " |")
        for (slower, faster), of_model in ratios.items():
            if of_model:
                lowest = min(of_model, key=of_model.get)
                below = sum(ratio < 0.97 for ratio in of_model.values())
                means.append(
                    f"- {threads} thread{'s' * (threads > 1)}, "
                    f"{slower} / {faster}: geometric mean "
                    f"{geometric_mean(of_model.values()):.3f}, lowest "
                    f"{of_model[lowest]:.3f} ({lowest}), {below} of "
                    f"{len(of_model)} below 0.97")
    return out + ["", *means]


def facts_table(args, runs, names):
    modes = args.modes
    out = [f"Of {' / '.join(modes)}:", "",
           "| model | kernels | launches | fused groups | "
           "MiB of operands | predicted MiB, memory | and shared cache | "
           "intermediate MiB | arena MiB | compiling, CPU s |",
           "|---" * 10 + "|"]
    for name in names:
        facts = runs.of(name, "facts")
        if facts is None:
            continue
        by_mode = [facts[mode] for mode in modes]
        cells = [name] + [" / ".join(str(fact.get(field, "-"))
                                     for fact in by_mode)
                          for field in ("kernels", "launches", "fused")]
        cells += [" / ".join(mib(fact, field) for fact in by_mode)
                  for field in ("operand_bytes", "memory_bytes",
                                "shared_bytes", "intermediate_bytes",
                                "arena_bytes")]
        cells.append(" / ".join(f"{fact['compile_cpu_s'] or 0:.1f}"
                                for fact in by_mode))
        out.append("| " + " | ".join(cells) + " |")
    return out


def table(args, runs, names):
    """Times, then what they come from; what was not measured is left out."""
    return "\n".join([
        "CPU milliseconds at one thread, wall milliseconds at more: the least "
        "of all turns, and the",
        "median over turns of the median of a turn (wall). Ratios are of the "
        "least times within a turn: the median",
        "over turns, and its quartiles.", "",
        *times_table(args, runs, names), "",
        *facts_table(args, runs, names)])


def parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--out", required=True)
    parser.add_argument("--tilewright", default="bazel-bin/tools/tilewright")
    parser.add_argument("--connect", default="none,register,tilegraph")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--records", default="")
    parser.add_argument("--before", default="")
    parser.add_argument("--table", default="")
    parser.add_argument("--minutes", type=float, default=24 * 60)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--flags", default="")
    parser.add_argument("--prefix", default="")
    parser.add_argument("--timeout", type=float, default=600)
    args = parser.parse_args(arguments)
    args.modes = [*["before"] * bool(args.before), *args.connect.split(","),
                  *["measured"] * bool(args.records)]
    try:
        args.threads = [int(count) for count in args.threads.split(",")]
    except ValueError:
        parser.error(f"--threads={args.threads}: not numbers")
    if len(set(args.modes)) < max(2, len(args.modes)):
        parser.error("at least two modes are needed to compare, no two alike")
    if args.turns < 1 or min(args.threads) < 1:
        parser.error("--turns and --threads are at least 1")
    return args


def digest(binary):
    with open(binary, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:12]


def main(arguments):
    args = parse(arguments)
    models = [os.path.join(model, "model.onnx") if os.path.isdir(model)
              else model for model in args.models]
    names = [name_of(model) for model in models]
    if len(set(names)) < len(names):
        raise Failed("two models of one name")
    runs = Runs(args.out, [digest(args.tilewright),
                           args.before and digest(args.before), args.modes,
                           args.flags, args.seconds])
    clock = Clock(args.minutes, args.timeout)
    failed = False
    for at, (model, name) in enumerate(zip(models, names)):
        clock.share(len(models) - at)
        try:
            ablate(args, runs, clock, model, name)
        except Failed as error:
            print(f"ablation: {name}: {error}", file=sys.stderr, flush=True)
            failed = True
    text = table(args, runs, names)
    print(text)
    if args.table:
        with open(args.table, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (Failed, OSError) as error:
        print(f"ablation: {error}", file=sys.stderr)
        sys.exit(2)
