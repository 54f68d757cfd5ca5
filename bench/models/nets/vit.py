"""Vision Transformer (Dosovitskiy et al., ICLR 2021), pre-norm, class token.
The default is ViT-S/16 at 224 pixels (width 384, 12 layers, 6 heads)."""

import torch
from torch import nn

from nets.attention import Attention


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=1e-6)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width, eps=1e-6)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                 nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class VisionTransformer(nn.Module):
    def __init__(self, image=224, patch=16, width=384, layers=12, heads=6, classes=1000):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, stride=patch)
        self.class_token = nn.Parameter(torch.zeros(1, 1, width))
        tokens = (image // patch) ** 2 + 1
        self.position_embedding = nn.Parameter(torch.zeros(1, tokens, width))
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_token.expand(x.shape[0], -1, -1), x], dim=1)
        x = self.blocks(x + self.position_embedding)
        return self.head(self.norm(x)[:, 0])
