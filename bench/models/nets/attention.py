"""Multi-head attention as most vision transformers write it."""

from torch import nn


class Attention(nn.Module):
    """Self-attention over [batch, tokens, width]: one projection to queries,
    keys and values, scaled softmax, one projection back."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.head_width = width // heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        parts = self.qkv(x).reshape(batch, tokens, 3, self.heads, self.head_width)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4).unbind(0)
        scores = (queries @ keys.transpose(-2, -1)) * self.head_width ** -0.5
        mixed = scores.softmax(dim=-1) @ values
        return self.proj(mixed.transpose(1, 2).reshape(batch, tokens, width))
