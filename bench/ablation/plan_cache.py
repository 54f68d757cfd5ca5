#!/usr/bin/env python3
"""Measures what measured plans cost, and what is kept of them: one table in
Markdown.

    plan_cache.py MODEL... [--tilewright=BIN] [--threads=2] [--seconds=180]
        [--long=900] [--records=DB] [--timeout=3600]

MODEL is an .onnx or a folder with model.onnx; all share the records. Each is
compiled with --connect=tilegraph:

  by estimate   without records
  first         with --measure=SECONDS, on the records of the models before it
  on            again with --measure=LONG less SECONDS, unless there was time
                left: what had no time goes on
  again         again with --measure=SECONDS: nothing but what is still unknown
  by records    without --measure

and the table has the wall seconds of each and the kernels that it measured
(verified and timed), the share of the model's groups whose plan (computes,
stages, tiles) after `first` is that after `on`, and whether the last two give
the same file. --records: an empty file or none, else what is measured is less.
"""
import argparse
import re
import subprocess
import sys
import tempfile
import time

from ablation import name_of


def run(command, timeout):
    """Its stdout and stderr, and wall seconds."""
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True,
                          timeout=timeout, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().split("\n")[-1])
    return done.stdout, done.stderr, time.monotonic() - start


def groups_of(text):
    """The text of `inspect --what=plan` on each group, without its number and
    why it ends where it ends."""
    blocks = re.split(r"^group \d+: ", text, flags=re.M)[1:]
    return {"\n".join(line for line in block.split("\n")
                      if not line.startswith("  ends")) for block in blocks}


class Model:
    def __init__(self, args, path, folder):
        self.args, self.folder = args, folder
        self.path = path if path.endswith(".onnx") else f"{path}/model.onnx"
        self.name = name_of(path)

    def compile(self, to, *flags):
        """Wall seconds, kernels that were measured, and whether time was left."""
        _, stderr, seconds = run(
            [self.args.tilewright, "compile", self.path, "-o",
             f"{self.folder}/{to}.tw", "--connect=tilegraph",
             f"--threads={self.args.threads}", *flags], self.args.timeout)
        told = re.findall(r"measuring: (\d+) kernels measured.*; (\d+) s of at "
                          r"most (\d+)", stderr)
        if not told:
            return seconds, 0, True
        measured, spent, most = (int(number) for number in told[-1])
        return seconds, measured, spent < most

    def plan(self, records):
        text, _, _ = run(
            [self.args.tilewright, "inspect", self.path, "--what=plan",
             "--connect=tilegraph", f"--threads={self.args.threads}", records],
            self.args.timeout)
        return groups_of(text)

    def row(self):
        args = self.args
        records = f"--records={args.records}"
        estimate = self.compile("estimate")
        first = self.compile("first", records, f"--measure={args.seconds}")
        short = self.plan(records)
        on = (0, 0, True)
        if not first[2]:
            on = self.compile("on", records,
                              f"--measure={max(1, args.long - args.seconds)}")
        again = self.compile("again", records, f"--measure={args.seconds}")
        long = self.plan(records)
        by_records = self.compile("records", records)
        with open(f"{self.folder}/again.tw", "rb") as one, \
             open(f"{self.folder}/records.tw", "rb") as other:
            same = one.read() == other.read()
        share = len(short & long) / max(1, len(long))
        return (f"| {self.name} | {estimate[0]:.1f} | {first[0]:.1f} | {first[1]}"
                f" | {on[0]:.1f} | {on[1]} | {again[0]:.1f} | {again[1]} |"
                f" {by_records[0]:.1f} | {100 * share:.0f} % of {len(long)} |"
                f" {'yes' if same else 'no'} |")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--tilewright", default="bazel-bin/tools/tilewright")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=180)
    parser.add_argument("--long", type=int, default=900)
    parser.add_argument("--records")
    parser.add_argument("--timeout", type=float, default=3600)
    args = parser.parse_args()
    print("| model | by estimate s | first s | kernels | on s | kernels |"
          " again s | kernels | by records s | same plan | same file |")
    print("|---" * 11 + "|", flush=True)
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        args.records = args.records or f"{folder}/records.db"
        for path in args.models:
            try:
                print(Model(args, path, folder).row(), flush=True)
            except (OSError, RuntimeError, subprocess.SubprocessError) as error:
                print(f"plan_cache: {name_of(path)}: {error}", file=sys.stderr)
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
