"""MobileViT (Mehta and Rastegari, ICLR 2022). The default is MobileViT-S."""

import torch
from torch import nn

from nets.attention import Attention


def conv(inputs, outputs, kernel=1, stride=1, groups=1, activation=True):
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
              nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([nn.SiLU()] if activation else []))


class InvertedResidual(nn.Module):
    def __init__(self, inputs, outputs, stride=1, expansion=4):
        super().__init__()
        hidden = inputs * expansion
        self.residual = stride == 1 and inputs == outputs
        self.layers = nn.Sequential(
            conv(inputs, hidden), conv(hidden, hidden, 3, stride, groups=hidden),
            conv(hidden, outputs, activation=False))

    def forward(self, x):
        return x + self.layers(x) if self.residual else self.layers(x)


class Transformer(nn.Module):
    def __init__(self, width, heads=4):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.SiLU(),
                                 nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class MobileVitBlock(nn.Module):
    """Convolutions for near pixels, attention between equal places of all
    2 x 2 patches for far ones."""

    def __init__(self, channels, width, depth):
        super().__init__()
        self.local = nn.Sequential(conv(channels, channels, 3),
                                   nn.Conv2d(channels, width, 1, bias=False))
        self.transformer = nn.Sequential(*[Transformer(width) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)
        self.project = conv(width, channels)
        self.fuse = conv(2 * channels, channels, 3)

    def forward(self, x):
        y = self.local(x)
        batch, width, rows, columns = y.shape
        high, wide = rows // 2, columns // 2
        # [batch, place in the patch, patch, width]
        y = y.reshape(batch * width * high, 2, wide, 2).transpose(1, 2)
        y = y.reshape(batch, width, high * wide, 4).transpose(1, 3)
        y = self.norm(self.transformer(y.reshape(batch * 4, high * wide, width)))
        y = y.reshape(batch, 4, high * wide, width).transpose(1, 3)
        y = y.reshape(batch * width * high, wide, 2, 2).transpose(1, 2)
        y = self.project(y.reshape(batch, width, rows, columns))
        return self.fuse(torch.cat([x, y], dim=1))


class MobileVit(nn.Module):
    def __init__(self, channels=(16, 32, 64, 96, 128, 160), widths=(144, 192, 240),
                 depths=(2, 4, 3), head=640, classes=1000):
        super().__init__()
        c = channels
        layers = [conv(3, c[0], 3, 2), InvertedResidual(c[0], c[1]),
                  InvertedResidual(c[1], c[2], 2), InvertedResidual(c[2], c[2]),
                  InvertedResidual(c[2], c[2])]
        for before, after, width, depth in zip(c[2:], c[3:], widths, depths):
            layers += [InvertedResidual(before, after, 2), MobileVitBlock(after, width, depth)]
        self.layers = nn.Sequential(*layers, conv(c[-1], head))
        self.classifier = nn.Linear(head, classes)

    def forward(self, x):
        return self.classifier(self.layers(x).mean(dim=(2, 3)))
