"""One step of a decoder with its cache of keys and values, as large language
models generate text: RMSNorm (Zhang and Sennrich, 2019), rotary positions (Su et
al., 2021), fewer heads of keys than of queries (Ainslie et al., 2023) and SwiGLU
(Shazeer, 2020), as Llama has them (Touvron et al., 2023).  Every product has one
row, so a step is bound by reading weights.  The default has 75 million parameters
in 12 layers and 25 million in the table of words."""

import numpy as np
import torch
from torch import nn


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.gamma


def rotate(x, place):
    """The two halves of each head as real and imaginary part, turned by `place`."""
    half = int(x.shape[-1]) // 2
    angles = place * 10000.0 ** (-np.arange(half) / half)
    cos, sin = (torch.from_numpy(f(angles)).to(x.dtype) for f in (np.cos, np.sin))
    real, imaginary = x[..., :half], x[..., half:]
    return torch.cat([real * cos - imaginary * sin, imaginary * cos + real * sin], dim=-1)


class CachedAttention(nn.Module):
    def __init__(self, width, heads, cached_heads):
        super().__init__()
        self.cached_heads = cached_heads
        self.head_width = width // heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, cached_heads * self.head_width, bias=False)
        self.value = nn.Linear(width, cached_heads * self.head_width, bias=False)
        self.output = nn.Linear(width, width, bias=False)

    def split(self, x):
        """[batch, tokens, heads * width] -> [batch, heads, tokens, width]"""
        return x.view(x.shape[0], x.shape[1], -1, self.head_width).transpose(1, 2)

    def forward(self, x, keys, values):
        """Returns the output and the caches with this step behind them."""
        place = int(keys.shape[2])
        queries = rotate(self.split(self.query(x)), place)
        keys = torch.cat([keys, rotate(self.split(self.key(x)), place)], dim=2)
        values = torch.cat([values, self.split(self.value(x))], dim=2)
        # Queries that share keys are rows of one product.
        groups = queries.reshape(x.shape[0], self.cached_heads, -1, self.head_width)
        scores = groups @ keys.transpose(-1, -2) * self.head_width ** -0.5
        mixed = scores.softmax(dim=-1) @ values
        return self.output(mixed.reshape(x.shape)), keys, values


class Layer(nn.Module):
    def __init__(self, width, heads, cached_heads, hidden):
        super().__init__()
        self.norm1 = RmsNorm(width)
        self.attention = CachedAttention(width, heads, cached_heads)
        self.norm2 = RmsNorm(width)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x, keys, values):
        mixed, keys, values = self.attention(self.norm1(x), keys, values)
        x = x + mixed
        y = self.norm2(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y)), keys, values


class Decoder(nn.Module):
    """Takes a token's id, int64 [batch, 1], and for each layer the keys and the values
    of all earlier tokens, [batch, cached_heads, past, width / heads].  Returns the
    logits, [batch, 1, vocabulary], and the longer caches."""

    def __init__(self, vocabulary=32000, width=768, layers=12, heads=12, cached_heads=4,
                 hidden=2048):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(
            [Layer(width, heads, cached_heads, hidden) for _ in range(layers)])
        self.norm = RmsNorm(width)
        self.logits = nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids, *cache):
        x = self.words(ids)
        longer = []
        for layer, keys, values in zip(self.layers, cache[0::2], cache[1::2]):
            x, keys, values = layer(x, keys, values)
            longer += [keys, values]
        return (self.logits(self.norm(x)), *longer)
