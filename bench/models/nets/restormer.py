"""Restormer (Zamir et al., CVPR 2022): attention between channels."""

import torch
from torch import nn
from torch.nn import functional


class PixelNorm(nn.LayerNorm):
    """LayerNorm over the channels of [batch, channels, rows, columns], done on
    rows of pixels and written out as its authors do."""

    def forward(self, x):
        pixels = x.flatten(2).transpose(1, 2)
        mean = pixels.mean(-1, keepdim=True)
        variance = pixels.var(-1, keepdim=True, unbiased=False)
        y = (pixels - mean) / torch.sqrt(variance + self.eps) * self.weight + self.bias
        return y.transpose(1, 2).reshape(x.shape)


class ChannelAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.temperature = nn.Parameter(torch.ones(heads, 1, 1))
        self.qkv = nn.Conv2d(width, 3 * width, 1, bias=False)
        self.depthwise = nn.Conv2d(3 * width, 3 * width, 3, padding=1, groups=3 * width,
                                   bias=False)
        self.project = nn.Conv2d(width, width, 1, bias=False)

    def forward(self, x):
        batch, width, rows, columns = x.shape
        queries, keys, values = (
            part.reshape(batch, self.heads, width // self.heads, rows * columns)
            for part in self.depthwise(self.qkv(x)).chunk(3, dim=1))
        queries = functional.normalize(queries, dim=-1)
        keys = functional.normalize(keys, dim=-1)
        scores = (queries @ keys.transpose(-2, -1)) * self.temperature
        mixed = scores.softmax(dim=-1) @ values
        return self.project(mixed.reshape(batch, width, rows, columns))


class GatedFeedForward(nn.Module):
    def __init__(self, width, expansion=2.66):
        super().__init__()
        hidden = int(width * expansion)
        self.expand = nn.Conv2d(width, 2 * hidden, 1, bias=False)
        self.depthwise = nn.Conv2d(2 * hidden, 2 * hidden, 3, padding=1, groups=2 * hidden,
                                   bias=False)
        self.project = nn.Conv2d(hidden, width, 1, bias=False)

    def forward(self, x):
        gate, values = self.depthwise(self.expand(x)).chunk(2, dim=1)
        return self.project(functional.gelu(gate) * values)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = PixelNorm(width)
        self.attention = ChannelAttention(width, heads)
        self.norm2 = PixelNorm(width)
        self.feed = GatedFeedForward(width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.feed(self.norm2(x))


def blocks(width, heads, count):
    return nn.Sequential(*[Block(width, heads) for _ in range(count)])


def conv3(inputs, outputs, *after):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), *after)


class Restormer(nn.Module):
    def __init__(self, width=48, depths=(4, 6, 6, 8), heads=(1, 2, 4, 8), refinement=4):
        super().__init__()
        self.embed = conv3(3, width)
        widths = [width << level for level in range(4)]
        self.encoders = nn.ModuleList([blocks(*row) for row in zip(widths, heads, depths)])
        self.downs = nn.ModuleList([conv3(w, w // 2, nn.PixelUnshuffle(2)) for w in widths[:3]])
        self.ups = nn.ModuleList([conv3(w, 2 * w, nn.PixelShuffle(2)) for w in widths[1:]])
        self.reduces = nn.ModuleList([nn.Conv2d(2 * w, w, 1, bias=False) for w in widths[1:3]])
        # The first level keeps the doubled width, as published.
        self.decoders = nn.ModuleList([blocks(2 * widths[0], heads[0], depths[0])] + [
            blocks(*row) for row in zip(widths[1:3], heads[1:3], depths[1:3])])
        self.refinement = blocks(2 * width, heads[0], refinement)
        self.output = conv3(2 * width, 3)

    def forward(self, image):
        x, skips = self.embed(image), []
        for encoder, down in zip(self.encoders, self.downs):
            x = encoder(x)
            skips.append(x)
            x = down(x)
        x = self.encoders[3](x)
        for level in (2, 1, 0):
            x = torch.cat([self.ups[level](x), skips[level]], dim=1)
            x = self.decoders[level](self.reduces[level - 1](x) if level else x)
        return self.output(self.refinement(x)) + image
