"""The models that can be exported: one entry each.

An entry says how to build the torch model (no pretrained weights) and how to
draw an input.  To add a model, add an entry to MODELS.
"""

import dataclasses
from typing import Callable, Tuple

import numpy as np
import torch
from torch import nn


@dataclasses.dataclass(frozen=True)
class Model:
    build: Callable[[], nn.Module]
    # Shape of the one input with batch 1; dimension 0 is the batch (rows for
    # an MLP) and is overridden by --batch.
    input_shape: Tuple[int, ...]
    # (random stream, shape) -> float32 array.
    draw_input: Callable[[np.random.Generator, Tuple[int, ...]], np.ndarray]


def normal(random, shape):
    """Independent N(0, 1) values: features of unrelated rows."""
    return random.normal(0.0, 1.0, shape).astype(np.float32)


def image(random, shape):
    """An image [N, C, H, W]: a tint per channel, soft blobs and pixel noise.

    White noise alone would be averaged away by a network's global pooling, and
    two such inputs would give nearly equal outputs."""
    n, c, h, w = shape
    tint = random.normal(0.0, 0.5, (n, c, 1, 1))
    blobs = torch.from_numpy(random.normal(0.0, 1.0, (n, c, 5, 5)))
    blobs = nn.functional.interpolate(blobs, size=(h, w), mode="bilinear", align_corners=True)
    noise = random.normal(0.0, 0.3, shape)
    return (tint + blobs.numpy() + noise).astype(np.float32)


@torch.no_grad()
def narrow(model, divisor, classes):
    """Divides the channels of every layer of a torchvision CNN by `divisor`,
    except the image's own channels, and gives it `classes` outputs."""
    def scaled(channels):
        return channels if channels <= 4 else max(1, channels // divisor)

    last_linear = [m for m in model.modules() if isinstance(m, nn.Linear)][-1]
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            bias = getattr(child, "bias", None) is not None
            if isinstance(child, nn.Conv2d):
                setattr(parent, name, nn.Conv2d(
                    scaled(child.in_channels), scaled(child.out_channels), child.kernel_size,
                    child.stride, child.padding, child.dilation,
                    1 if child.groups == 1 else scaled(child.groups), bias))
            elif isinstance(child, nn.BatchNorm2d):
                setattr(parent, name, nn.BatchNorm2d(scaled(child.num_features), child.eps))
            elif isinstance(child, nn.Linear):
                outputs = classes if child is last_linear else scaled(child.out_features)
                setattr(parent, name, nn.Linear(scaled(child.in_features), outputs, bias))
    return model


def resnet18():
    import torchvision
    return torchvision.models.resnet18(weights=None)


def mlp(widths):
    """Linear layers between the given widths, a ReLU between every two."""
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


MODELS = {
    "resnet18": Model(resnet18, (1, 3, 224, 224), image),
    # 7-layer MLP, 64 wide: bound by memory unless its layers are fused.
    "mlp64": Model(lambda: mlp([64] * 8), (65536, 64), normal),
    # One matrix product with constant weights, for the share of the peak.
    "gemm512": Model(lambda: nn.Linear(512, 512), (512, 512), normal),
    "gemm1024": Model(lambda: nn.Linear(1024, 1024), (1024, 1024), normal),
    # Small enough to be committed.
    "resnet18_small": Model(lambda: narrow(resnet18(), 8, classes=10), (1, 3, 64, 64), image),
    "mlp64_small": Model(lambda: mlp([64] * 8), (100, 64), normal),
    "mlp_odd": Model(lambda: mlp([13, 37, 29, 5]), (7, 13), normal),
}
