#!/usr/bin/python3
"""Lists kernels of models that stay far below their roofline.

    bench/models/slow_kernels.py --tilewright=bazel-bin/tools/tilewright DIR ...

Of each DIR/model.onnx those that take at least --time of a run (in percent) and
--us microseconds, and reach less than --roof percent of their bound.
"""

import argparse
import os
import re
import subprocess

ROW = re.compile(r"k\d+ +\d+ +(?P<us>[\d.]+) +[\d.]+ +[\d.]+ +(?P<time>[\d.]+)% +[\d.]+ +[\d.]+ +"
                 r"(?P<roof>\d+)% ")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tilewright", required=True)
    parser.add_argument("--time", type=float, default=10)
    parser.add_argument("--roof", type=float, default=15)
    parser.add_argument("--us", type=float, default=50)
    parser.add_argument("--seconds", default="0.4")
    parser.add_argument("folder", nargs="+")
    arguments = parser.parse_args()
    for folder in arguments.folder:
        run = subprocess.run(
            [arguments.tilewright, "benchmark", os.path.join(folder, "model.onnx"), "--threads=1",
             "--profile=all", f"--seconds={arguments.seconds}"],
            capture_output=True, text=True, check=False)
        if run.returncode != 0:
            print(f"{folder}: {run.stderr.strip()}")
        for line in run.stdout.splitlines():
            row = ROW.match(line)
            if (row and float(row["time"]) >= arguments.time
                    and float(row["roof"]) < arguments.roof and float(row["us"]) >= arguments.us):
                print(f"{os.path.basename(folder)}: {line}", flush=True)


if __name__ == "__main__":
    main()
