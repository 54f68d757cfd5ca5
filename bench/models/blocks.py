"""Blocks of networks: of images, of tokens, of signals."""

import math

import torch
from torch import nn
import torch.nn.functional as F


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


def windows(x, size, function):
    """`function` of the tokens of each window of size x size pixels."""
    b, c, h, w = x.shape
    parts = x.view(b, c, h // size, size, w // size, size).permute(0, 2, 4, 3, 5, 1)
    tokens = function(parts.reshape(-1, size * size, c))
    parts = tokens.view(b, h // size, w // size, size, size, c).permute(0, 5, 1, 3, 2, 4)
    return parts.reshape(b, c, h, w)


def window_attention(x, qkv, size):
    return windows(x, size, lambda tokens: attention(tokens, qkv))


def shuffled(x, groups):
    b, c, h, w = x.shape
    return x.view(b, groups, c // groups, h, w).transpose(1, 2).reshape(b, c, h, w)


def involution(x, kernel):
    b, c, h, w = x.shape
    weights = kernel(x).view(b, 1, 9, h, w)
    return (F.unfold(x, 3, padding=1).view(b, c, 9, h, w) * weights).sum(2)


def pyramid(x, conv):
    pooled = [F.adaptive_avg_pool2d(x, n) for n in (1, 2, 4)]
    size = x.shape[2:]
    return conv(torch.cat([x] + [F.interpolate(p, size, mode="nearest") for p in pooled], 1))


def warped(x, offsets):
    b, _, h, w = x.shape
    rows, columns = torch.meshgrid(
        torch.linspace(-1, 1, h), torch.linspace(-1, 1, w), indexing="ij")
    grid = torch.stack([columns, rows], -1).unsqueeze(0).expand(b, h, w, 2)
    moved = grid + 0.05 * torch.tanh(offsets(x)).permute(0, 2, 3, 1)
    return F.grid_sample(x, moved, align_corners=False)


def rotated(x):
    """Rotary positions of pairs of features."""
    t, c = x.shape[-2:]
    angles = torch.arange(t).unsqueeze(1) * torch.pow(100.0, -torch.arange(c // 2) / (c // 2))
    cos, sin = torch.cat([angles.cos()] * 2, -1), torch.cat([angles.sin()] * 2, -1)
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


def rotary_attention(x, qkv):
    b, t, c = x.shape
    q, k, v = qkv(x).view(b, t, 3, 4, c // 4).permute(2, 0, 3, 1, 4)
    weights = rotated(q) @ rotated(k).transpose(2, 3) * 0.2
    causal = torch.full((t, t), -1e4).triu(1)
    return x + ((weights + causal).softmax(-1) @ v).transpose(1, 2).reshape(b, t, c)


def one_key_attention(x, q, kv):
    """Several heads of queries on one head of keys."""
    b, t, c = x.shape
    queries = q(x).view(b, t, 4, c // 4).transpose(1, 2)
    k, v = kv(x).unsqueeze(1).chunk(2, -1)
    mixed = (queries @ k.transpose(2, 3) * 0.2).softmax(-1) @ v
    return x + mixed.transpose(1, 2).reshape(b, t, c)


def linear_attention(x, qkv):
    b, t, c = x.shape
    q, k, v = qkv(x).view(b, t, 3, 4, c // 4).permute(2, 0, 3, 1, 4)
    q, k = F.elu(q) + 1, F.elu(k) + 1
    scale = 1 / (q @ k.sum(-2).unsqueeze(-1) + 1e-3)
    return x + (q @ (k.transpose(2, 3) @ v) * scale).transpose(1, 2).reshape(b, t, c)


def pooled_attention(x, q, kv):
    b, t, c = x.shape
    pooled = F.avg_pool1d(x.transpose(1, 2), 4).transpose(1, 2)
    k, v = kv(pooled).chunk(2, -1)
    return x + (q(x) @ k.transpose(1, 2) * 0.1).softmax(-1) @ v


def experts(x, gate, *parts):
    weights = gate(x).softmax(-1)
    return sum(weights[..., i:i + 1] * part(x) for i, part in enumerate(parts))


def rms_norm(x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)


class Snake(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.alpha = nn.Parameter(torch.rand(1, channels, 1) + 0.5)

    def forward(self, x):
        return x + torch.sin(self.alpha * x).pow(2) / (self.alpha + 1e-3)


class Recurrent(nn.Module):
    def __init__(self, kind, features):
        super().__init__()
        self.layer = kind(features, features // 2, batch_first=True, bidirectional=True)

    def forward(self, x):
        return self.layer(x)[0]


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
    "rows_as_signal": lambda r, s: Apply(lambda x: x.mean(2)),
    "conv3_strided": lambda r, s: nn.Conv2d(s[1], r.choice([32, 48, 96]), 3, 2, 1),
    "conv_row": lambda r, s: nn.Conv2d(s[1], s[1], (1, 7), 1, (0, 3)),
    "depthwise_row_and_column": lambda r, s: nn.Sequential(
        nn.Conv2d(s[1], s[1], (1, 11), 1, (0, 5), groups=s[1]),
        nn.Conv2d(s[1], s[1], (11, 1), 1, (5, 0), groups=s[1])),
    "residual": lambda r, s: Apply(
        lambda x, a, b: x + b(F.relu(a(x))), nn.Conv2d(s[1], 48, 3, 1, 1), nn.Conv2d(48, s[1], 1)),
    "dense": lambda r, s: Apply(
        lambda x, conv: torch.cat([x, conv(x)], 1), nn.Conv2d(s[1], 16, 3, 1, 1)),
    "branches": lambda r, s: Apply(
        lambda x, a, b: torch.cat([a(x), b(F.max_pool2d(x, 3, 1, 1)),
                                   F.avg_pool2d(x, 3, 1, 1)], 1),
        nn.Conv2d(s[1], 32, 1), nn.Conv2d(s[1], 20, 1)),
    "squeeze_excite": lambda r, s: Apply(
        lambda x, a, b: x * torch.sigmoid(b(F.relu(a(x.mean((2, 3), keepdim=True))))),
        nn.Conv2d(s[1], 8, 1), nn.Conv2d(8, s[1], 1)),
    "channel_shuffle": lambda r, s: (lambda g: Apply(lambda x: shuffled(x, g)))(r.choice([2, 4])),
    "half_convolved": lambda r, s: Apply(
        lambda x, conv: torch.cat([x[:, :s[1] // 2], conv(x[:, s[1] // 2:])], 1),
        nn.Conv2d(s[1] - s[1] // 2, s[1] // 2, 3, 1, 1)),
    "max_pool_same": lambda r, s: nn.MaxPool2d(5, 1, 2),
    "average_pool": lambda r, s: nn.AvgPool2d(2),
    "pixels_to_channels": lambda r, s: nn.PixelUnshuffle(2),
    "window_attention": lambda r, s: (lambda size: Apply(
        lambda x, qkv: window_attention(x, qkv, size), nn.Linear(s[1], 3 * s[1])))(
            r.choice([4, 8])),
    "rolled": lambda r, s: Apply(lambda x: x + torch.roll(x, (2, 2), (2, 3))),
    "flipped": lambda r, s: Apply(lambda x: x + x.flip(3)),
    "reflected": lambda r, s: Apply(
        lambda x, conv: conv(F.pad(x, (1, 1, 1, 1), mode="reflect")), nn.Conv2d(s[1], 32, 3)),
    "pyramid": lambda r, s: Apply(pyramid, nn.Conv2d(4 * s[1], s[1], 1)),
    "global_context": lambda r, s: Apply(
        lambda x, key: x + (x.flatten(2) @ key(x).flatten(2).softmax(-1).transpose(1, 2))
        .unsqueeze(-1), nn.Conv2d(s[1], 1, 1)),
    "features_normed": lambda r, s: Apply(
        lambda x, norm: norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2), nn.LayerNorm(s[1])),
    "mlp_of_channels": lambda r, s: Apply(
        lambda x, a, b: x + b(F.gelu(a(x.permute(0, 2, 3, 1)))).permute(0, 3, 1, 2),
        nn.Linear(s[1], 2 * s[1]), nn.Linear(2 * s[1], s[1])),
    "hard_swish": lambda r, s: nn.Hardswish(),
    "mish": lambda r, s: nn.Mish(),
    "log_softmax": lambda r, s: nn.LogSoftmax(1),
    "involution": lambda r, s: Apply(involution, nn.Conv2d(s[1], 9, 1)),
    "warped": lambda r, s: Apply(warped, nn.Conv2d(s[1], 2, 3, 1, 1)),
    "product_of_rows": lambda r, s: Apply(lambda x, mix: x + mix(x), nn.Linear(s[3], s[3])),
    "product_of_columns": lambda r, s: Apply(
        lambda x, mix: x + mix(x.transpose(2, 3)).transpose(2, 3), nn.Linear(s[2], s[2])),
    "deconv4": lambda r, s: nn.ConvTranspose2d(s[1], 24, 4, 2, 1),
    "cubic": lambda r, s: nn.Upsample(scale_factor=2.0, mode="bicubic", align_corners=False),
    "minus_blurred": lambda r, s: Apply(lambda x: x - F.avg_pool2d(x, 5, 1, 2)),
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
    "signal": lambda r, s: Apply(lambda x: x.transpose(1, 2)),
    "rotary_attention": lambda r, s: Apply(rotary_attention, nn.Linear(s[2], 3 * s[2])),
    "one_key_attention": lambda r, s: Apply(
        one_key_attention, nn.Linear(s[2], s[2]), nn.Linear(s[2], s[2] // 2)),
    "linear_attention": lambda r, s: Apply(linear_attention, nn.Linear(s[2], 3 * s[2])),
    "pooled_attention": lambda r, s: Apply(
        pooled_attention, nn.Linear(s[2], s[2]), nn.Linear(s[2], 2 * s[2])),
    "experts": lambda r, s: Apply(
        experts, nn.Linear(s[2], 3), *[nn.Linear(s[2], s[2]) for _ in range(3)]),
    "rms_norm": lambda r, s: Apply(rms_norm),
    "swiglu": lambda r, s: Apply(
        lambda x, a, b, c: x + c(F.silu(a(x)) * b(x)), nn.Linear(s[2], 2 * s[2]),
        nn.Linear(s[2], 2 * s[2]), nn.Linear(2 * s[2], s[2])),
    "lstm": lambda r, s: Recurrent(nn.LSTM, s[2]),
    "gru": lambda r, s: Recurrent(nn.GRU, s[2]),
    "every_second": lambda r, s: Apply(lambda x: x[:, ::2] * 0.5 + x[:, 1::2] * 0.5),
    "reversed": lambda r, s: Apply(lambda x: x + x.flip(1)),
    "differences": lambda r, s: Apply(lambda x: F.pad(x[:, 1:] - x[:, :-1], (0, 0, 0, 1))),
    "memory": lambda r, s: Apply(
        lambda x, keys, values: x + values(keys(x).softmax(-1)), nn.Linear(s[2], 64),
        nn.Linear(64, s[2])),
    "groups_of_features": lambda r, s: Apply(
        lambda x, mix: mix(x.view(*x.shape[:2], 4, -1)).flatten(2),
        nn.Linear(s[2] // 4, s[2] // 4)),
    "mean_token": lambda r, s: Apply(
        lambda x, mix: x + torch.tanh(mix(x.mean(1, keepdim=True))), nn.Linear(s[2], s[2])),
    "with_mean_token": lambda r, s: Apply(lambda x: torch.cat([x.mean(1, keepdim=True), x], 1)),
    "outer_product": lambda r, s: Apply(
        lambda x, a, b: x + torch.einsum("btc,bsc->bts", a(x), b(x)).mean(-1, keepdim=True),
        nn.Linear(s[2], 16), nn.Linear(s[2], 16)),
    "log_softmax": lambda r, s: nn.LogSoftmax(-1),
    "as_image": lambda r, s: Apply(
        lambda x: x.transpose(1, 2).reshape(s[0], s[2], math.isqrt(s[1]), math.isqrt(s[1]))),
}

# The same, from [batch, channels, samples].
SIGNAL_BLOCKS = {
    "conv3": lambda r, s: nn.Conv1d(s[1], r.choice([24, 32, 64]), 3, 1, 1),
    "conv1": lambda r, s: nn.Conv1d(s[1], r.choice([32, 48, 100]), 1),
    "conv7_dilated": lambda r, s: nn.Conv1d(s[1], s[1], 7, 1, 9, dilation=3),
    "strided": lambda r, s: nn.Conv1d(s[1], r.choice([32, 64]), 4, 2, 1),
    "deconv": lambda r, s: nn.ConvTranspose1d(s[1], 24, 4, 2, 1),
    "depthwise": lambda r, s: nn.Conv1d(s[1], s[1], 15, 1, 7, groups=s[1]),
    "snake": lambda r, s: Snake(s[1]),
    "glu": lambda r, s: nn.GLU(1),
    "gated_tanh": lambda r, s: Apply(
        lambda x, a, b: x + torch.tanh(a(x)) * torch.sigmoid(b(x)),
        nn.Conv1d(s[1], s[1], 3, 1, 1), nn.Conv1d(s[1], s[1], 3, 1, 1)),
    "residual": lambda r, s: Apply(
        lambda x, a, b: x + b(F.leaky_relu(a(F.leaky_relu(x, 0.1)), 0.1)),
        nn.Conv1d(s[1], s[1], 3, 1, 2, dilation=2), nn.Conv1d(s[1], s[1], 3, 1, 1)),
    "instance_norm": lambda r, s: nn.InstanceNorm1d(s[1], affine=True),
    "group_norm": lambda r, s: nn.GroupNorm(r.choice([1, 4]), s[1]),
    "channel_norm": lambda r, s: Apply(lambda x: centred(x, 1)),
    "max_pool": lambda r, s: nn.MaxPool1d(2),
    "linear": lambda r, s: nn.Upsample(scale_factor=2.0, mode="linear", align_corners=False),
    "nearest": lambda r, s: nn.Upsample(scale_factor=2.0),
    "softmax_of_samples": lambda r, s: Apply(lambda x: x * x.softmax(-1)),
    "statistics": lambda r, s: Apply(
        lambda x: torch.cat([x, x.mean(2, keepdim=True).expand_as(x)], 1)),
    "running_mean": lambda r, s: Apply(
        lambda x: torch.cumsum(x, 2) / torch.arange(1, s[2] + 1)),
    "differences": lambda r, s: Apply(lambda x: F.pad(x[..., 1:] - x[..., :-1], (0, 1))),
    "causal": lambda r, s: Apply(
        lambda x, conv: conv(F.pad(x, (6, 0))), nn.Conv1d(s[1], 48, 7)),
    "frames": lambda r, s: Apply(lambda x: x.view(s[0], s[1] * 4, s[2] // 4)),
    "tokens": lambda r, s: Apply(lambda x: x.transpose(1, 2)),
}
