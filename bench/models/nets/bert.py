"""BERT encoder (Devlin et al., 2018), post-norm, with the pooler.
The default is BERT-base: 12 layers, width 768, 12 heads."""

import math

import numpy as np
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.head_width = width // heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, self.head_width).permute(0, 2, 1, 3)

    def forward(self, x, bias):
        queries, keys, values = (self.split(f(x)) for f in (self.query, self.key, self.value))
        scores = queries @ keys.transpose(-1, -2) / math.sqrt(self.head_width) + bias
        mixed = scores.softmax(dim=-1) @ values
        return self.output(mixed.permute(0, 2, 1, 3).reshape(x.shape))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = SelfAttention(width, heads)
        self.norm1 = nn.LayerNorm(width, eps=1e-12)
        self.intermediate = nn.Linear(width, 4 * width)
        self.output = nn.Linear(4 * width, width)
        self.norm2 = nn.LayerNorm(width, eps=1e-12)

    def forward(self, x, bias):
        x = self.norm1(x + self.attention(x, bias))
        return self.norm2(x + self.output(nn.functional.gelu(self.intermediate(x))))


class Bert(nn.Module):
    """Takes token ids and a mask (1: attend, 0: ignore), both int64 [batch, tokens]."""

    def __init__(self, vocabulary=30522, width=768, layers=12, heads=12, positions=512):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(positions, width)
        self.kinds = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList([Layer(width, heads) for _ in range(layers)])
        self.pooler = nn.Linear(width, width)

    def forward(self, ids, mask):
        places = torch.arange(ids.shape[1], device=ids.device)[None]
        x = self.words(ids) + self.positions(places) + self.kinds(torch.zeros_like(ids))
        x = self.norm(x)
        ignored = 1.0 - mask[:, None, None, :].to(x.dtype)
        bias = ignored * torch.finfo(torch.float32).min
        for layer in self.layers:
            x = layer(x, bias)
        return x, torch.tanh(self.pooler(x[:, 0]))


def token_ids(vocabulary):
    def draw(random, shape):
        return random.integers(0, vocabulary, shape, dtype=np.int64)
    return draw


def mask(random, shape):
    """Sentences that fill between three quarters and all of their row."""
    tokens = shape[1]
    lengths = random.integers(3 * tokens // 4, tokens, (shape[0], 1), endpoint=True)
    return (np.arange(tokens)[None] < lengths).astype(np.int64)
