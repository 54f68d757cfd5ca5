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
import os
import random

import torch
from torch import nn
import torch.nn.functional as F
from onnx import numpy_helper

import export

LEAST_ELEMENTS, MOST_ELEMENTS = 1 << 12, 1 << 19
MOST_ATTENDED = 1024


class Apply(nn.Module):
    """A function of the input and of modules with parameters."""

    def __init__(self, function, *modules):
        super().__init__()
        self.function = function
        self.parts = nn.ModuleList(modules)

    def forward(self, x):
        return self.function(x, *self.parts)


def centred(x, dim):
    mean = x.mean(dim, keepdim=True)
    return (x - mean) / torch.sqrt((x - mean).pow(2).mean(dim, keepdim=True) + 1e-6)


def image_attention(x, qkv):
    b, c, h, w = x.shape
    q, k, v = qkv(x).view(b, 3, 4, c // 4, h * w).unbind(1)
    weights = (q.transpose(2, 3) @ k * 0.2).softmax(-1)
    return x + (v @ weights.transpose(2, 3)).reshape(b, c, h, w)


def attention(x, qkv):
    b, t, c = x.shape
    q, k, v = qkv(x).view(b, t, 3, 4, c // 4).permute(2, 0, 3, 1, 4)
    return x + ((q @ k.transpose(2, 3) * 0.2).softmax(-1) @ v).transpose(1, 2).reshape(b, t, c)


def channel_attention(x, qkv):
    b, t, c = x.shape
    q, k, v = qkv(x).view(b, t, 3, 4, c // 4).permute(2, 0, 3, 4, 1)
    weights = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(2, 3)
    return x + (weights.softmax(-1) @ v).permute(0, 3, 1, 2).reshape(b, t, c)


def gated(x, dim):
    a, b = x.chunk(2, dim)
    return a * torch.sigmoid(b)


def heads_normed(x):
    heads = x.view(*x.shape[:-1], 4, -1)
    return (heads * torch.rsqrt(heads.pow(2).sum(-1, keepdim=True) + 1e-3)).flatten(-2)


# By name: from a random.Random and the shape [batch, channels, height, width],
# a module.
IMAGE_BLOCKS = {
    "conv3": lambda r, s: nn.Conv2d(s[1], r.choice([24, 32, 64, 96]), 3, 1, 1),
    "conv1": lambda r, s: nn.Conv2d(s[1], r.choice([24, 48, 64, 100]), 1),
    "conv3_dilated": lambda r, s: nn.Conv2d(s[1], s[1], 3, 1, 2, dilation=2),
    "conv3_groups": lambda r, s: nn.Conv2d(s[1], s[1], 3, 1, 1, groups=r.choice([2, 4])),
    "depthwise": lambda r, s: (lambda k: nn.Conv2d(s[1], s[1], k, 1, k // 2, groups=s[1]))(
        r.choice([3, 5, 7])),
    "deconv": lambda r, s: nn.ConvTranspose2d(s[1], 32, 2, 2),
    "group_norm": lambda r, s: nn.GroupNorm(r.choice([1, 2, 4, s[1]]), s[1]),
    "instance_norm": lambda r, s: nn.InstanceNorm2d(s[1], affine=r.random() < 0.5),
    "batch_norm": lambda r, s: nn.BatchNorm2d(s[1]),
    "channel_norm": lambda r, s: Apply(lambda x: centred(x, 1)),
    "l2_norm": lambda r, s: Apply(lambda x: F.normalize(x, dim=1)),
    "prelu": lambda r, s: nn.PReLU(s[1]),
    "gelu": lambda r, s: nn.GELU(),
    "silu": lambda r, s: nn.SiLU(),
    "softmax_of_channels": lambda r, s: Apply(lambda x: x * x.softmax(1)),
    "softmax_of_pixels": lambda r, s: Apply(lambda x: x * x.flatten(2).softmax(-1).view_as(x)),
    "gate_by_mean": lambda r, s: Apply(
        lambda x: x * torch.sigmoid(x.mean((2, 3), keepdim=True))),
    "gate_by_channels": lambda r, s: Apply(lambda x: x * torch.sigmoid(x.mean(1, keepdim=True))),
    "rows_and_columns": lambda r, s: Apply(
        lambda x: x * torch.tanh(x.mean(3, keepdim=True)) + x.amax(2, keepdim=True)),
    "max_pool": lambda r, s: nn.MaxPool2d(2),
    "nearest": lambda r, s: nn.Upsample(scale_factor=2.0),
    "linear": lambda r, s: nn.Upsample(scale_factor=2.0, mode="bilinear", align_corners=False),
    "gated": lambda r, s: Apply(lambda x: gated(x, 1)),
    "beside_negated": lambda r, s: Apply(lambda x: torch.cat([x, -x], 1)),
    "beside_relu": lambda r, s: Apply(lambda x: torch.cat([x, F.relu(x)], 1)),
    "shuffled_pixels": lambda r, s: nn.PixelShuffle(2),
    "and_transposed": lambda r, s: Apply(lambda x: x + x.transpose(2, 3)),
    "by_transposed": lambda r, s: Apply(lambda x: x @ x.transpose(2, 3) * 0.05),
    "attention": lambda r, s: Apply(image_attention, nn.Conv2d(s[1], 3 * s[1], 1)),
    "tokens": lambda r, s: Apply(lambda x: x.flatten(2).transpose(1, 2)),
}

# The same, from [batch, tokens, features].
TOKEN_BLOCKS = {
    "product": lambda r, s: nn.Linear(s[2], r.choice([48, 64, 96, 128])),
    "product_of_tokens": lambda r, s: Apply(
        lambda x, mix: x + mix(x.transpose(1, 2)).transpose(1, 2), nn.Linear(s[1], s[1])),
    "conv": lambda r, s: Apply(lambda x, conv: conv(x.transpose(1, 2)).transpose(1, 2),
                               nn.Conv1d(s[2], s[2], 3, 1, 1)),
    "depthwise": lambda r, s: Apply(
        lambda x, conv: conv(x.transpose(1, 2)).transpose(1, 2),
        (lambda k: nn.Conv1d(s[2], s[2], k, 1, k // 2, groups=s[2]))(r.choice([3, 7, 15]))),
    "layer_norm": lambda r, s: nn.LayerNorm(s[2]),
    "token_norm": lambda r, s: Apply(lambda x: F.normalize(x, dim=1)),
    "heads_normed": lambda r, s: Apply(heads_normed),
    "without_mean": lambda r, s: Apply(lambda x: x - x.mean(1, keepdim=True)),
    "gelu": lambda r, s: nn.GELU(),
    "gated": lambda r, s: Apply(lambda x: gated(x, -1)),
    "softmax": lambda r, s: Apply(lambda x: x * x.softmax(-1)),
    "softmax_of_tokens": lambda r, s: Apply(lambda x: x * x.softmax(1)),
    "attention": lambda r, s: Apply(attention, nn.Linear(s[2], 3 * s[2])),
    "channel_attention": lambda r, s: Apply(channel_attention, nn.Linear(s[2], 3 * s[2])),
    "einsum_attention": lambda r, s: Apply(lambda x: x + torch.einsum(
        "bqk,bkc->bqc", torch.einsum("bqc,bkc->bqk", x, x).mul(0.05).softmax(-1), x)),
    "running_sum": lambda r, s: Apply(lambda x: x + 0.01 * torch.cumsum(x, 1)),
    "shifted": lambda r, s: Apply(lambda x: 0.5 * x + 0.5 * F.pad(x, (0, 0, 1, -1))),
}


def draw(seed):
    """A network, the shape of its input, and the names of its blocks."""
    r = random.Random(seed)
    torch.manual_seed(seed)
    if r.random() < 0.6:
        size = r.choice([24, 28, 32, 40, 56])
        first = shape = (1, r.choice([32, 48, 64, 96, 128]), size, size)
    else:
        first = shape = (1, r.choice([48, 64, 96, 100, 128, 197]), r.choice([32, 64, 96, 128]))
    modules, names = [], []
    wanted = r.randint(4, 7)
    for _ in range(100):
        if len(names) == wanted:
            break
        blocks = IMAGE_BLOCKS if len(shape) == 4 else TOKEN_BLOCKS
        name = r.choice(list(blocks))
        attended = shape[1] if len(shape) == 3 else shape[2] * shape[3]
        if ("attention" in name or name == "product_of_tokens") and attended > MOST_ATTENDED:
            continue
        try:
            module = blocks[name](r, shape).eval()
            with torch.no_grad():
                after = tuple(module(torch.zeros(shape)).shape)
        except (RuntimeError, ValueError):  # its channels do not divide, say
            continue
        if LEAST_ELEMENTS <= torch.Size(after).numel() <= MOST_ELEMENTS:
            modules.append(module)
            names.append(name)
            shape = after
    return nn.Sequential(*modules).eval(), first, names


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=80)
    arguments = parser.parse_args()
    for seed in range(arguments.first, arguments.first + arguments.count):
        model, shape, names = draw(seed)
        x = torch.randn(shape)
        proto = export.to_onnx(model, [("x", x)], ["y"], 17, fold_batchnorm=True)
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
