#!/usr/bin/env python3
"""Compiles one product in many ways, to see on a GPU which of them is fastest.

    bench/gpu/product_variants.py --tilewright=BIN [--target=cuda:sm_90a] MODEL.onnx OUT

MODEL has one product (bench/models: gemm2048).  OUT/NAME.tw, for each tile, step, number
of stages and kind of copy that compiles; then, on the GPU,

    gpu_check --only=models OUT/*.tw
"""

import argparse
import itertools
import os
import re
import subprocess
import sys

# Tile of a block and its threads, along rows and columns: 64 to 128 elements a thread.
SHAPES = [((128, 16), (128, 8)), ((128, 16), (128, 16)), ((128, 16), (256, 16)),
          ((256, 32), (128, 8)), ((256, 16), (128, 16)), ((128, 16), (64, 8)), ((64, 8), (128, 16))]
STEPS = [8, 16, 32, 64]
# Stages and what holds those ahead: nothing, registers, buffers filled asynchronously.
STAGES = [(1, None), (2, 0), (2, 1), (3, 1), (4, 1)]
# These follow from the tile: the rules decide them anew.
BY_RULE = ("block.pad", "block.unroll", "block.order", "block.copy", "block.sums")


def variant(decisions, shape, step, stages, asynchronous):
    """The text of a decision file, from that of the rules' own."""
    wanted = {"block.step": step, "block.stages": stages}
    for axis, (tile, threads) in zip(("d0", "d1"), shape):
        wanted[f"block.tile.{axis}"], wanted[f"block.threads.{axis}"] = tile, threads
    lines = [line for line in decisions.splitlines() if not line.startswith(BY_RULE)]
    text = "\n".join(lines) + "\n"
    for name, value in wanted.items():
        text, found = re.subn(rf"(?m)^{re.escape(name)} = .*$", f"{name} = {value}", text)
        if found != 1:
            sys.exit(f"the rules' decisions have no {name}: is it one product?\n{decisions}")
    return text if asynchronous is None else text + f"block.async = {asynchronous}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tilewright", required=True)
    parser.add_argument("--target", default="cuda:sm_90a")
    parser.add_argument("model")
    parser.add_argument("out")
    arguments = parser.parse_args()
    program = [arguments.tilewright]
    target = f"--target={arguments.target}"
    rules = subprocess.run(program + ["inspect", arguments.model, target, "--what=decisions"],
                           check=True, capture_output=True, text=True).stdout
    os.makedirs(arguments.out, exist_ok=True)
    for shape, step, (stages, asynchronous) in itertools.product(SHAPES, STEPS, STAGES):
        (rows, row_threads), (columns, column_threads) = shape
        kind = {None: "", 0: "registers", 1: "buffers"}[asynchronous]
        path = os.path.join(arguments.out, f"{rows}x{columns}_by_{row_threads}x{column_threads}"
                                           f"_step{step}_{stages}{kind}")
        with open(path + ".txt", "w") as file:
            file.write(variant(rules, shape, step, stages, asynchronous))
        done = subprocess.run(program + ["compile", arguments.model, target, "-o", path + ".tw",
                                         f"--decisions={path}.txt"], capture_output=True, text=True)
        if done.returncode != 0:
            print(f"{path}: {done.stderr.strip().splitlines()[-1]}")


if __name__ == "__main__":
    main()
