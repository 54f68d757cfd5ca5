"""NAFNet (Chen et al., ECCV 2022): image restoration without activations.
The default is the width 32 of its denoising model."""

import torch
from torch import nn


class LayerNorm2d(nn.LayerNorm):
    """Normalises the channels of each pixel, written out as its authors do."""

    def forward(self, x):
        mean = x.mean(1, keepdim=True)
        variance = (x - mean).pow(2).mean(1, keepdim=True)
        y = (x - mean) / (variance + self.eps).sqrt()
        channels = (1, -1, 1, 1)
        return self.weight.view(channels) * y + self.bias.view(channels)


class SimpleGate(nn.Module):
    def forward(self, x):
        one, other = x.chunk(2, dim=1)
        return one * other


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        double = 2 * width
        self.norm1 = LayerNorm2d(width, eps=1e-6)
        self.mix = nn.Sequential(
            nn.Conv2d(width, double, 1),
            nn.Conv2d(double, double, 3, padding=1, groups=double), SimpleGate())
        self.attention = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, width, 1))
        self.project = nn.Conv2d(width, width, 1)
        self.norm2 = LayerNorm2d(width, eps=1e-6)
        self.feed = nn.Sequential(nn.Conv2d(width, double, 1), SimpleGate(),
                                  nn.Conv2d(width, width, 1))
        self.beta = nn.Parameter(torch.zeros(1, width, 1, 1))
        self.gamma = nn.Parameter(torch.zeros(1, width, 1, 1))

    def forward(self, x):
        y = self.mix(self.norm1(x))
        x = x + self.project(y * self.attention(y)) * self.beta
        return x + self.feed(self.norm2(x)) * self.gamma


class NafNet(nn.Module):
    def __init__(self, width=32, encoder=(2, 2, 4, 8), middle=12, decoder=(2, 2, 2, 2)):
        super().__init__()
        def blocks(width, count):
            return nn.Sequential(*[Block(width) for _ in range(count)])

        self.intro = nn.Conv2d(3, width, 3, padding=1)
        self.encoders, self.downs = nn.ModuleList(), nn.ModuleList()
        self.decoders, self.ups = nn.ModuleList(), nn.ModuleList()
        for count in encoder:
            self.encoders.append(blocks(width, count))
            self.downs.append(nn.Conv2d(width, 2 * width, 2, stride=2))
            width *= 2
        self.middle = blocks(width, middle)
        for count in decoder:
            self.ups.append(nn.Sequential(nn.Conv2d(width, 2 * width, 1, bias=False),
                                          nn.PixelShuffle(2)))
            width //= 2
            self.decoders.append(blocks(width, count))
        self.ending = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, image):
        x, skips = self.intro(image), []
        for encoder, down in zip(self.encoders, self.downs):
            x = encoder(x)
            skips.append(x)
            x = down(x)
        x = self.middle(x)
        for decoder, up, skip in zip(self.decoders, self.ups, reversed(skips)):
            x = decoder(up(x) + skip)
        return self.ending(x) + image
