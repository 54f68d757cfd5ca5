#!/usr/bin/python3
"""Draws networks of blocks, by seed, that mix the layouts of images and tokens.

    bench/models/drawn.py --out=DIR --first=0 --count=80

A layer that is fast alone (layers.py) may be slow behind what another leaves:
channels side by side, transposed, in parts.  One folder per seed, with an input
but no reference; what it is made of is in blocks.txt.  slow_kernels.py says what
is slow in them:

    bench/models/slow_kernels.py --tilewright=bazel-bin/tools/tilewright DIR/*

Needs python3-torch and python3-onnx.
"""

import argparse
import math
import os
import random

import torch
from torch import nn
from onnx import numpy_helper

import export
import half
from blocks import IMAGE_BLOCKS, SIGNAL_BLOCKS, TOKEN_BLOCKS

LEAST_ELEMENTS, MOST_ELEMENTS = 1 << 12, 1 << 19
MOST_ATTENDED = 1024

BLOCKS = {"image": IMAGE_BLOCKS, "tokens": TOKEN_BLOCKS, "signal": SIGNAL_BLOCKS}
BECOMES = {"tokens": "tokens", "signal": "signal", "rows_as_signal": "signal",
           "as_image": "image"}
# What compares all tokens, or pixels, with all others.
ATTENDING = {"attention", "channel_attention", "einsum_attention", "rotary_attention",
             "one_key_attention", "linear_attention", "product_of_tokens", "outer_product"}


def first_shape(r):
    """The kind of blocks to begin with, and the shape of the input."""
    batch = r.choice([1, 1, 1, 2, 3])
    kind = r.choice(["image"] * 5 + ["tokens"] * 3 + ["signal"] * 2)
    if kind == "image":
        size = r.choice([24, 28, 32, 40, 56])
        return kind, (batch, r.choice([32, 48, 64, 96, 128]), size, size)
    if kind == "tokens":
        return kind, (batch, r.choice([48, 64, 96, 100, 128, 197]), r.choice([32, 64, 96, 128]))
    return kind, (batch, r.choice([16, 32, 48, 64]), r.choice([256, 500, 1024, 2000]))


def draw(seed):
    """A network, the shape of its input, and the names of its blocks."""
    r = random.Random(seed)
    torch.manual_seed(seed)
    kind, first = first_shape(r)
    shape = first
    modules, names = [], []
    wanted = r.randint(4, 7)
    for _ in range(200):
        if len(names) == wanted:
            break
        name = r.choice(list(BLOCKS[kind]))
        attended = shape[1] if kind == "tokens" else math.prod(shape[2:])
        if attended > MOST_ATTENDED and name in ATTENDING:
            continue
        try:
            module = BLOCKS[kind][name](r, shape).eval()
            with torch.no_grad():
                after = tuple(module(torch.zeros(shape)).shape)
        except (RuntimeError, ValueError):  # its channels do not divide, say
            continue
        if LEAST_ELEMENTS <= torch.Size(after).numel() <= MOST_ELEMENTS:
            modules.append(module)
            names.append(name)
            shape = after
            kind = BECOMES.get(name, kind)
    return nn.Sequential(*modules).eval(), first, names


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--precision", choices=["fp32", "fp16"], default="fp32",
                        help="fp16: storage; networks that resize are left out")
    arguments = parser.parse_args()
    for seed in range(arguments.first, arguments.first + arguments.count):
        model, shape, names = draw(seed)
        x = torch.randn(shape)
        proto = export.to_onnx(model, [("x", x)], ["y"], 17, fold_batchnorm=True)
        if arguments.precision == "fp16":
            if any(node.op_type == "Resize" for node in proto.graph.node):
                continue
            proto = half.to_half(proto)
        folder = os.path.join(arguments.out, f"drawn_{seed}")
        os.makedirs(f"{folder}/test_data_set_0", exist_ok=True)
        with open(f"{folder}/model.onnx", "wb") as file:
            file.write(proto.SerializeToString(deterministic=True))
        with open(f"{folder}/test_data_set_0/input_0.pb", "wb") as file:
            file.write(numpy_helper.from_array(x.numpy(), "x").SerializeToString())
        with open(f"{folder}/blocks.txt", "w", encoding="utf-8") as file:
            file.write(f"{shape}: {' '.join(names)}\n")


if __name__ == "__main__":
    main()
