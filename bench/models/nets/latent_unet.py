"""One step of a latent diffusion model (Rombach et al., CVPR 2022), without text:
a U-net of residual blocks with GroupNorm and SiLU that hear of the step's time,
and of self-attention at its two lower resolutions.  The default has 4 x 32 x 32
latents and 128, 256 and 384 channels."""

import math

import torch
from torch import nn


class ResidualBlock(nn.Module):
    def __init__(self, inputs, outputs, time_width):
        super().__init__()
        self.norm1 = nn.GroupNorm(32, inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time = nn.Linear(time_width, outputs)
        self.norm2 = nn.GroupNorm(32, outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.shortcut = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, time):
        y = self.conv1(nn.functional.silu(self.norm1(x)))
        y = y + self.time(nn.functional.silu(time))[:, :, None, None]
        return self.shortcut(x) + self.conv2(nn.functional.silu(self.norm2(y)))


class PixelAttention(nn.Module):
    """Every pixel attends to all others."""

    def __init__(self, channels, head_width=32):
        super().__init__()
        self.head_width = head_width
        self.norm = nn.GroupNorm(32, channels)
        self.parts = nn.Linear(channels, 3 * channels, bias=False)
        self.output = nn.Linear(channels, channels)

    def forward(self, x):
        batch, channels, rows, columns = x.shape
        y = self.norm(x).flatten(2).transpose(1, 2)
        queries, keys, values = (
            part.view(batch, rows * columns, -1, self.head_width).transpose(1, 2)
            for part in self.parts(y).chunk(3, dim=-1))
        scores = queries @ keys.transpose(-1, -2) * self.head_width ** -0.5
        mixed = (scores.softmax(dim=-1) @ values).transpose(1, 2).reshape(y.shape)
        return x + self.output(mixed).transpose(1, 2).reshape(x.shape)


class LatentUnet(nn.Module):
    """Takes latents [batch, 4, rows, columns] and the step's time [batch]; returns
    the noise that it finds in them."""

    def __init__(self, channels=(128, 256, 384), latents=4, blocks=2):
        super().__init__()
        self.first_channels = channels[0]
        width = 4 * channels[0]
        self.time = nn.Sequential(nn.Linear(channels[0], width), nn.SiLU(),
                                  nn.Linear(width, width))
        self.first = nn.Conv2d(latents, channels[0], 3, padding=1)
        self.down, self.up = nn.ModuleList(), nn.ModuleList()
        kept = [channels[0]]
        inputs = channels[0]
        for level, outputs in enumerate(channels):
            for _ in range(blocks):
                self.down.append(self.stage(inputs, outputs, width, level > 0))
                inputs = outputs
                kept.append(inputs)
            if level + 1 < len(channels):
                self.down.append(nn.Conv2d(inputs, inputs, 3, stride=2, padding=1))
                kept.append(inputs)
        self.middle = nn.ModuleList([self.stage(inputs, inputs, width, True),
                                     ResidualBlock(inputs, inputs, width)])
        for level, outputs in reversed(list(enumerate(channels))):
            for block in range(blocks + 1):
                self.up.append(self.stage(inputs + kept.pop(), outputs, width, level > 0))
                inputs = outputs
            if level > 0:
                self.up.append(nn.Sequential(nn.Upsample(scale_factor=2, mode="nearest"),
                                             nn.Conv2d(inputs, inputs, 3, padding=1)))
        self.last = nn.Sequential(nn.GroupNorm(32, inputs), nn.SiLU(),
                                  nn.Conv2d(inputs, latents, 3, padding=1))

    @staticmethod
    def stage(inputs, outputs, width, attends):
        parts = [ResidualBlock(inputs, outputs, width)]
        return nn.ModuleList(parts + [PixelAttention(outputs)] if attends else parts)

    @staticmethod
    def run(stage, x, time):
        for part in stage:
            x = part(x, time) if isinstance(part, ResidualBlock) else part(x)
        return x

    def embedded(self, time):
        half = self.first_channels // 2
        rates = torch.exp(torch.arange(half, dtype=time.dtype) * (-math.log(10000.0) / half))
        angles = time[:, None] * rates[None]
        return self.time(torch.cat([angles.cos(), angles.sin()], dim=-1))

    def forward(self, latents, time):
        time = self.embedded(time)
        x = self.first(latents)
        kept = [x]
        for stage in self.down:
            x = stage(x) if isinstance(stage, nn.Conv2d) else self.run(stage, x, time)
            kept.append(x)
        for part in self.middle:
            x = part(x, time) if isinstance(part, ResidualBlock) else self.run(part, x, time)
        for stage in self.up:
            if isinstance(stage, nn.Sequential):
                x = stage(x)
            else:
                x = self.run(stage, torch.cat([x, kept.pop()], dim=1), time)
        return self.last(x)
