"""Conformer encoder (Gulati et al., Interspeech 2020) with relative positions.
The default is Conformer (S): 16 layers, width 144, 4 heads; the depthwise
convolution has 31 taps, the odd neighbour of the paper's 32."""

import math

import numpy as np
import torch
from torch import nn


class FeedForward(nn.Sequential):
    def __init__(self, width):
        super().__init__(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.SiLU(),
                         nn.Linear(4 * width, width))


class RelativeAttention(nn.Module):
    """Self-attention with the relative positions of Transformer-XL."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.head_width = width // heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.position = nn.Linear(width, width, bias=False)
        self.output = nn.Linear(width, width)
        self.content_bias = nn.Parameter(torch.zeros(heads, self.head_width))
        self.position_bias = nn.Parameter(torch.zeros(heads, self.head_width))

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, self.head_width)

    @staticmethod
    def shift(scores):
        """[.., t, 2t - 1] by distance -> [.., t, t] by position: a column of
        zeros in front makes each row start one place later."""
        batch, heads, tokens, distances = scores.shape
        zeros = scores.new_zeros(batch, heads, tokens, 1)
        padded = torch.cat([zeros, scores], dim=-1).view(batch, heads, distances + 1, tokens)
        return padded[:, :, 1:].reshape(scores.shape)[..., :tokens]

    def forward(self, x, positions):
        queries = self.split(self.query(x))
        keys = self.split(self.key(x)).permute(0, 2, 3, 1)
        values = self.split(self.value(x)).transpose(1, 2)
        distances = self.split(self.position(positions)).permute(0, 2, 3, 1)
        content = (queries + self.content_bias).transpose(1, 2) @ keys
        place = (queries + self.position_bias).transpose(1, 2) @ distances
        scores = (content + self.shift(place)) / math.sqrt(self.head_width)
        mixed = (scores.softmax(dim=-1) @ values).transpose(1, 2)
        return self.output(mixed.reshape(x.shape))


class Convolution(nn.Module):
    def __init__(self, width, taps):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.expand = nn.Conv1d(width, 2 * width, 1)
        self.depthwise = nn.Conv1d(width, width, taps, padding=taps // 2, groups=width)
        self.batch_norm = nn.BatchNorm1d(width)
        self.project = nn.Conv1d(width, width, 1)

    def forward(self, x):
        x = self.expand(self.norm(x).transpose(1, 2))
        x = self.batch_norm(self.depthwise(nn.functional.glu(x, dim=1)))
        return self.project(nn.functional.silu(x)).transpose(1, 2)


class Block(nn.Module):
    def __init__(self, width, heads, taps):
        super().__init__()
        self.feed1 = FeedForward(width)
        self.norm_attention = nn.LayerNorm(width)
        self.attention = RelativeAttention(width, heads)
        self.convolution = Convolution(width, taps)
        self.feed2 = FeedForward(width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x, positions):
        x = x + 0.5 * self.feed1(x)
        x = x + self.attention(self.norm_attention(x), positions)
        x = x + self.convolution(x)
        return self.norm(x + 0.5 * self.feed2(x))


def sinusoids(tokens, width):
    """[1, 2 * tokens - 1, width]: distances tokens - 1 down to 1 - tokens."""
    distance = np.arange(tokens - 1, -tokens, -1.0)[:, None]
    angle = distance * 10000.0 ** (-np.arange(0, width, 2) / width)
    return np.stack([np.sin(angle), np.cos(angle)], axis=2).reshape(1, -1, width)


class Conformer(nn.Module):
    """[batch, frames, bands] -> [batch, about frames / 4, width]."""

    def __init__(self, bands=80, frames=512, width=144, layers=16, heads=4, taps=31):
        super().__init__()
        self.subsample = nn.Sequential(nn.Conv2d(1, width, 3, stride=2), nn.ReLU(),
                                       nn.Conv2d(width, width, 3, stride=2), nn.ReLU())
        shrunk = [((n - 1) // 2 - 1) // 2 for n in (frames, bands)]
        self.project = nn.Linear(width * shrunk[1], width)
        self.blocks = nn.ModuleList([Block(width, heads, taps) for _ in range(layers)])
        # A constant, not a parameter: it is not drawn.
        self.positions = torch.from_numpy(sinusoids(shrunk[0], width)).float()

    def forward(self, x):
        x = self.subsample(x[:, None])
        x = self.project(x.transpose(1, 2).flatten(2))
        positions = self.positions.to(x)  # type and device
        for block in self.blocks:
            x = block(x, positions)
        return x


def spectrogram(random, shape):
    """Bands that rise and fall over time, with noise."""
    batch, frames, bands = shape
    grid = torch.from_numpy(random.normal(0, 1, (batch, 1, 12, 8)))
    smooth = nn.functional.interpolate(grid, size=(frames, bands), mode="bilinear",
                                       align_corners=True)
    noise = random.normal(0, 0.5, shape)
    return (smooth[:, 0].numpy() + noise).astype(np.float32)
