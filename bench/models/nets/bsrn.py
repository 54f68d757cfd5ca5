"""Blueprint Separable Residual Network (Li et al., CVPR 2022 workshops): light
super-resolution by four."""

import torch
from torch import nn
from torch.nn import functional


class BlueprintConv(nn.Sequential):
    """A pointwise, then a depthwise convolution."""

    def __init__(self, inputs, outputs):
        super().__init__(nn.Conv2d(inputs, outputs, 1, bias=False),
                         nn.Conv2d(outputs, outputs, 3, padding=1, groups=outputs))


class SpatialAttention(nn.Module):
    def __init__(self, width):
        super().__init__()
        f = width // 4
        self.reduce = nn.Conv2d(width, f, 1)
        self.shortcut = nn.Conv2d(f, f, 1)
        self.stride = nn.Conv2d(f, f, 3, stride=2)
        self.coarse = nn.Sequential(BlueprintConv(f, f), nn.GELU(), BlueprintConv(f, f),
                                    nn.GELU(), BlueprintConv(f, f))
        self.expand = nn.Conv2d(f, width, 1)

    def forward(self, x):
        y = self.reduce(x)
        coarse = self.coarse(functional.max_pool2d(self.stride(y), 7, stride=3))
        coarse = functional.interpolate(coarse, size=x.shape[2:], mode="bilinear",
                                        align_corners=False)
        return x * torch.sigmoid(self.expand(coarse + self.shortcut(y)))


class ContrastAttention(nn.Module):
    """Weights channels by their standard deviation plus their mean."""

    def __init__(self, width, reduction=16):
        super().__init__()
        hidden = max(1, width // reduction)
        self.weigh = nn.Sequential(nn.Conv2d(width, hidden, 1), nn.ReLU(),
                                   nn.Conv2d(hidden, width, 1), nn.Sigmoid())

    def forward(self, x):
        pixels = x.shape[2] * x.shape[3]
        mean = x.sum(3, keepdim=True).sum(2, keepdim=True) / pixels
        variance = (x - mean).pow(2).sum(3, keepdim=True).sum(2, keepdim=True) / pixels
        return x * self.weigh(variance.pow(0.5) + x.mean(dim=(2, 3), keepdim=True))


class Block(nn.Module):
    """The efficient separable distillation block."""

    def __init__(self, width):
        super().__init__()
        half = width // 2
        self.distil = nn.ModuleList([nn.Conv2d(width, half, 1) for _ in range(3)])
        self.remain = nn.ModuleList([BlueprintConv(width, width) for _ in range(3)])
        self.last = BlueprintConv(width, half)
        self.fuse = nn.Conv2d(4 * half, width, 1)
        self.spatial = SpatialAttention(width)
        self.contrast = ContrastAttention(width)

    def forward(self, x):
        y, parts = x, []
        for distil, remain in zip(self.distil, self.remain):
            parts.append(functional.gelu(distil(y)))
            y = functional.gelu(remain(y) + y)
        parts.append(functional.gelu(self.last(y)))
        return x + self.contrast(self.spatial(self.fuse(torch.cat(parts, dim=1))))


class Bsrn(nn.Module):
    def __init__(self, width=64, blocks=8, scale=4):
        super().__init__()
        self.features = BlueprintConv(12, width)
        self.blocks = nn.ModuleList([Block(width) for _ in range(blocks)])
        self.fuse = nn.Sequential(nn.Conv2d(blocks * width, width, 1), nn.GELU(),
                                  BlueprintConv(width, width))
        self.upsample = nn.Sequential(nn.Conv2d(width, 3 * scale * scale, 3, padding=1),
                                      nn.PixelShuffle(scale))

    def forward(self, image):
        features = self.features(torch.cat([image] * 4, dim=1))
        x, outputs = features, []
        for block in self.blocks:
            x = block(x)
            outputs.append(x)
        return self.upsample(self.fuse(torch.cat(outputs, dim=1)) + features)
