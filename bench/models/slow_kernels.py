#!/usr/bin/python3
"""Lists kernels of models that stay far below their roofline, or far from their plan.

    bench/models/slow_kernels.py --tilewright=bazel-bin/tools/tilewright DIR ...

Of each DIR/model.onnx those that take at least --time of a run (in percent) and
--us microseconds, and reach less than --roof percent of their bound; with
--apart also those that take so many times what their plan predicts, or the plan
so many times what they take.
"""

import argparse
import json
import os
import subprocess


def profile_of(arguments, folder):
    run = subprocess.run(
        [arguments.tilewright, "benchmark", os.path.join(folder, "model.onnx"), "--threads=1",
         "--profile", "--json", f"--seconds={arguments.seconds}"],
        capture_output=True, text=True, check=False)
    if run.returncode != 0:
        print(f"{folder}: {run.stderr.strip()}")
        return None
    return json.loads(run.stdout)["profile"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tilewright", required=True)
    parser.add_argument("--time", type=float, default=10)
    parser.add_argument("--roof", type=float, default=15)
    parser.add_argument("--us", type=float, default=50)
    parser.add_argument("--apart", type=float)
    parser.add_argument("--seconds", default="0.4")
    parser.add_argument("folder", nargs="+")
    arguments = parser.parse_args()
    for folder in arguments.folder:
        profile = profile_of(arguments, folder)
        if profile is None:
            continue
        run_us = sum(kernel["us"] for kernel in profile["kernels"])
        for kernel in profile["kernels"]:
            us, planned_us = kernel["us"], kernel.get("predicted_us", 0)
            if us < arguments.us or 100 * us < arguments.time * run_us:
                continue
            slow = kernel["roofline_percent"] < arguments.roof
            apart = (arguments.apart and planned_us > 0 and
                     max(us / planned_us, planned_us / us) >= arguments.apart)
            if slow or apart:
                print(f"{os.path.basename(folder)}: {kernel['kernel']} x{kernel['launches']} {us:.1f} us, planned "
                      f"{planned_us:.1f}, {100 * us / run_us:.0f}% of the run, {kernel['roofline_percent']:.0f}% of "
                      f"its roofline  {kernel['short_name']}  {kernel['operators']}", flush=True)


if __name__ == "__main__":
    main()
