"""U-Net (Ronneberger, Fischer and Brox, MICCAI 2015), with padded convolutions
and BatchNorm as it is used today."""

import torch
from torch import nn


def double_conv(inputs, outputs):
    layers = []
    for channels in (inputs, outputs):
        layers += [nn.Conv2d(channels, outputs, 3, padding=1, bias=False),
                   nn.BatchNorm2d(outputs), nn.ReLU()]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    """`levels` times half the resolution and twice the channels, and back."""

    def __init__(self, width=64, levels=4, classes=2):
        super().__init__()
        widths = [width << level for level in range(levels + 1)]
        self.encoders = nn.ModuleList(map(double_conv, [3] + widths[:-2], widths[:-1]))
        self.bottom = double_conv(*widths[-2:])
        self.ups, self.decoders = nn.ModuleList(), nn.ModuleList()
        for width in reversed(widths[:-1]):
            self.ups.append(nn.ConvTranspose2d(2 * width, width, 2, stride=2))
            self.decoders.append(double_conv(2 * width, width))
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        skips = []
        for encoder in self.encoders:
            x = encoder(x)
            skips.append(x)
            x = nn.functional.max_pool2d(x, 2)
        x = self.bottom(x)
        for up, decoder, skip in zip(self.ups, self.decoders, reversed(skips)):
            x = decoder(torch.cat([skip, up(x)], dim=1))
        return self.head(x)
