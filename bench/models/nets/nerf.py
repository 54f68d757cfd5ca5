"""The network of NeRF (Mildenhall et al., ECCV 2020): eight layers of 256 with
the encoded position joined again after the fifth, then density and colour."""

import numpy as np
import torch
from torch import nn

POSITION, DIRECTION = 63, 27  # 3 + 3 * 2 * frequencies, for 10 and 4


class NerfMlp(nn.Module):
    """[samples, 63 + 27] encoded positions and directions -> [samples, 4]."""

    def __init__(self, width=256, layers=8, skip=4):
        super().__init__()
        self.skip = skip
        inputs = [POSITION] + [width + POSITION if i == skip else width
                               for i in range(layers - 1)]
        self.points = nn.ModuleList([nn.Linear(n, width) for n in inputs])
        self.density = nn.Linear(width, 1)
        self.feature = nn.Linear(width, width)
        self.views = nn.Linear(width + DIRECTION, width // 2)
        self.colour = nn.Linear(width // 2, 3)

    def forward(self, x):
        position, direction = torch.split(x, [POSITION, DIRECTION], dim=-1)
        h = position
        for i, layer in enumerate(self.points):
            h = torch.relu(layer(h))
            if i == self.skip:
                h = torch.cat([position, h], dim=-1)
        density = self.density(h)
        h = torch.relu(self.views(torch.cat([self.feature(h), direction], dim=-1)))
        return torch.cat([self.colour(h), density], dim=-1)


def encoded_samples(random, shape):
    """Points in [-1, 1]^3 and unit directions, each followed by the sines and
    cosines of its first powers-of-two multiples."""
    def encode(values, frequencies):
        waves = [f(values * 2.0 ** k) for k in range(frequencies) for f in (np.sin, np.cos)]
        return np.concatenate([values] + waves, axis=1)

    points = random.uniform(-1, 1, (shape[0], 3))
    views = random.normal(0, 1, (shape[0], 3))
    views /= np.linalg.norm(views, axis=1, keepdims=True)
    return np.concatenate([encode(points, 10), encode(views, 4)], axis=1).astype(np.float32)
