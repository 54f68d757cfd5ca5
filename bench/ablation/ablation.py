#!/usr/bin/env python3
"""What joining groups gains over whole models: each model compiled with every
--connect, the results measured in turns, one table.

    ablation.py MODEL... --out=RUNS.jsonl [--tilewright=BIN]
        [--connect=none,register,tilegraph] [--threads=1,2] [--turns=5]
        [--seconds=1] [--flags=FLAGS] [--prefix=CMD] [--timeout=600]

MODEL is an .onnx or a folder with model.onnx. A turn is one process of
`tilewright benchmark` for every mode, one after the other, each turn starting
with another mode; ratios are taken within a turn, and the median over turns is
what counts. A finished turn is a line of RUNS.jsonl: called again, the program
goes on where it was stopped. Turns of another binary or other flags do not
count. FLAGS go to compile and inspect; CMD stands before every measurement.

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


class Failed(Exception):
    pass


def call(command, timeout):
    """What `command` prints."""
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


def compile_model(args, model, mode, to):
    """The facts of one compiled model, which lies at `to`."""
    flags = [f"--connect={mode}", *shlex.split(args.flags)]
    made = call_json([args.tilewright, "compile", model, "-o", to, "--json",
                      *flags], args.timeout)
    plan = call_json([args.tilewright, "inspect", model, "--what=plan",
                      "--json", *flags], args.timeout)["plan"]
    # Scalars have no prediction.
    predicted = [g["predicted"] for g in plan["groups"] if "predicted" in g]
    return {
        "kernels": made["kernels"],
        "launches": made["launches"],
        "arena_bytes": made["arena_bytes"],
        "compile_cpu_s": made["compile_cpu_s"],
        "operand_bytes": made["bytes_moved"],
        "intermediate_bytes": plan["intermediate_bytes"],
        "memory_bytes": sum(p["memory_bytes"] for p in predicted),
        "shared_bytes": sum(p["shared_bytes"] for p in predicted),
        "staged": plan["staged"],
    }


def measure(args, file, threads):
    run = call_json([*shlex.split(args.prefix), args.tilewright, "benchmark",
                     file, f"--threads={threads}", f"--seconds={args.seconds}",
                     "--json"], args.timeout)
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


def ablate(args, runs, model, name):
    wanted = [(threads, turn) for threads in args.threads
              for turn in range(args.turns)
              if runs.of(name, "turn", threads, turn) is None]
    if not wanted and runs.of(name, "facts") is not None:
        return
    with tempfile.TemporaryDirectory() as folder:
        files = {mode: os.path.join(folder, mode + ".tw")
                 for mode in args.connect}
        runs.add({mode: compile_model(args, model, mode, file)
                  for mode, file in files.items()}, name, "facts")
        for threads, turn in wanted:
            first = turn % len(args.connect)
            order = args.connect[first:] + args.connect[:first]
            measured = {mode: measure(args, files[mode], threads)
                        for mode in order}
            runs.add(measured, name, "turn", threads, turn)
            times = ", ".join(f"{mode} {measured[mode]['ms']:.3f}"
                              for mode in args.connect)
            print(f"{name}, threads {threads}, turn {turn}: {times} ms",
                  file=sys.stderr, flush=True)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def mib(by_mode, field):
    return " / ".join(f"{fact[field] / 2**20:.1f}" for fact in by_mode)


def table(args, runs, names):
    """Times, then what they come from; what was not measured is left out."""
    modes = args.connect
    last = modes[-1]
    others = modes[:-1]
    out = ["| model | threads | " +
           " | ".join(f"{m} ms | median" for m in modes) + " | " +
           " | ".join(f"{m} / {last} | of turns" for m in others) + " |",
           "|---" * (2 + 2 * len(modes) + 2 * len(others)) + "|"]
    means = []
    for threads in args.threads:
        ratios = {mode: {} for mode in others}
        for name in names:
            turns = [runs.of(name, "turn", threads, turn)
                     for turn in range(args.turns)]
            turns = [turn for turn in turns if turn is not None]
            if not turns:
                continue
            cells = [name, str(threads)]
            for mode in modes:
                least = min(turn[mode]["ms"] for turn in turns)
                middle = statistics.median(
                    turn[mode]["median_ms"] for turn in turns)
                cells += [f"{least:.3f}", f"{middle:.3f}"]
            for mode in others:
                paired = [turn[mode]["ms"] / turn[last]["ms"]
                          for turn in turns]
                ratios[mode][name] = statistics.median(paired)
                cells += [f"{ratios[mode][name]:.3f}",
                          f"{min(paired):.2f} to {max(paired):.2f}"]
            out.append("| " + " | ".join(cells) + " |")
        for mode, of_model in ratios.items():
            if of_model:
                lowest = min(of_model, key=of_model.get)
                means.append(
                    f"{threads} thread{'s' * (threads > 1)}, {mode} / {last}: geometric mean "
                    f"{geometric_mean(of_model.values()):.3f}, lowest "
                    f"{of_model[lowest]:.3f} ({lowest})")
    out += ["", *means, "", f"Of {' / '.join(modes)}:", "",
            "| model | kernels | launches | joined groups | "
            "MiB of operands | predicted MiB, memory | and shared cache | "
            "intermediate MiB | arena MiB | compiling, CPU s |",
            "|---" * 10 + "|"]
    for name in names:
        facts = runs.of(name, "facts")
        if facts is None:
            continue
        by_mode = [facts[mode] for mode in modes]
        cells = [name] + [" / ".join(str(fact[field]) for fact in by_mode)
                          for field in ("kernels", "launches", "staged")]
        cells += [mib(by_mode, field) for field in (
            "operand_bytes", "memory_bytes", "shared_bytes",
            "intermediate_bytes", "arena_bytes")]
        cells.append(" / ".join(f"{fact['compile_cpu_s']:.1f}"
                                for fact in by_mode))
        out.append("| " + " | ".join(cells) + " |")
    return "\n".join(out)


def parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--out", required=True)
    parser.add_argument("--tilewright", default="bazel-bin/tools/tilewright")
    parser.add_argument("--connect", default="none,register,tilegraph")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--flags", default="")
    parser.add_argument("--prefix", default="")
    parser.add_argument("--timeout", type=float, default=600)
    args = parser.parse_args(arguments)
    args.connect = args.connect.split(",")
    try:
        args.threads = [int(count) for count in args.threads.split(",")]
    except ValueError:
        parser.error(f"--threads={args.threads}: not numbers")
    if len(set(args.connect)) < 2:
        parser.error("--connect needs at least two modes to compare")
    if args.turns < 1 or min(args.threads) < 1:
        parser.error("--turns and --threads are at least 1")
    return args


def main(arguments):
    args = parse(arguments)
    models = [os.path.join(model, "model.onnx") if os.path.isdir(model)
              else model for model in args.models]
    names = [name_of(model) for model in models]
    if len(set(names)) < len(names):
        raise Failed("two models of one name")
    with open(args.tilewright, "rb") as file:
        binary = hashlib.sha256(file.read()).hexdigest()[:12]
    runs = Runs(args.out, [binary, args.connect, args.flags, args.seconds])
    failed = False
    for model, name in zip(models, names):
        try:
            ablate(args, runs, model, name)
        except Failed as error:
            print(f"ablation: {name}: {error}", file=sys.stderr, flush=True)
            failed = True
    print(table(args, runs, names))
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (Failed, OSError) as error:
        print(f"ablation: {error}", file=sys.stderr)
        sys.exit(2)
