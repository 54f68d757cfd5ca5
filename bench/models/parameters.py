"""Draws a model's parameters so that no error can hide in its outputs.

Networks with default random weights forgive wrong kernels: their outputs vanish
or whole blocks are scaled away.  Here every parameter is drawn (weights
N(0, 1/fan_in), biases and norm shifts N(0, 0.1), norm scales U(0.5, 1.5),
embeddings N(0, 1), running means N(0, 0.1), running variances U(0.5, 1.5); 0.1 is a standard
deviation), then one pass over the data rescales each convolution and linear
layer to unit output.

Every parameter has its own random stream, keyed by (seed, its name), so the
values of one layer do not depend on which other layers exist.
"""

import zlib

import numpy as np
import torch
from torch import nn

NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.LayerNorm, nn.GroupNorm)
# Parameters outside norms that scale a branch; they are drawn like norm scales.
SCALE_NAMES = ("layer_scale", "gamma", "beta", "temperature")
# Tables and vectors that are added to activations, which have unit deviation.
EMBEDDING_NAMES = ("class_token", "position_embedding", "relative_position_bias_table")


def stream(seed, name):
    """The random stream of one named tensor."""
    return np.random.Generator(np.random.PCG64([seed, zlib.crc32(name.encode())]))


def _assign(tensor, values):
    tensor.copy_(torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32)))


def _fan_in(module, weight):
    """How many products each output of `module` sums."""
    if isinstance(module, (nn.ConvTranspose1d, nn.ConvTranspose2d)):
        return max(1, weight.numel() // weight.shape[1])
    return max(1, weight[0].numel() if weight.dim() > 1 else weight.numel())


@torch.no_grad()
def draw(model, seed):
    """Overwrites every floating-point parameter and buffer of `model`."""
    for prefix, module in model.named_modules():
        tensors = list(module.named_parameters(recurse=False))
        tensors += list(module.named_buffers(recurse=False))
        for name, tensor in tensors:
            if not tensor.is_floating_point():
                continue
            full_name = f"{prefix}.{name}" if prefix else name
            random = stream(seed, full_name)
            shape = tuple(tensor.shape)
            norm = isinstance(module, NORMS)
            if name == "running_var" or (norm and name == "weight"):
                _assign(tensor, random.uniform(0.5, 1.5, shape))
            elif name.startswith(SCALE_NAMES):
                _assign(tensor, random.uniform(0.5, 1.5, shape))
            elif isinstance(module, nn.Embedding) or name in EMBEDDING_NAMES:
                _assign(tensor, random.normal(0.0, 1.0, shape))
            elif name == "running_mean" or name.endswith("bias"):
                _assign(tensor, random.normal(0.0, 0.1, shape))
            else:
                deviation = _fan_in(module, tensor) ** -0.5
                _assign(tensor, random.normal(0.0, deviation, shape))


def _short(value):
    """Rounds to 8 significant bits, so that the last bits of a sum, which
    differ between machines, cannot change an exported weight."""
    mantissa, exponent = np.frexp(value)
    return float(np.ldexp(np.round(mantissa * 256) / 256, exponent))


@torch.no_grad()
def rescale_to_unit_output(model, inputs, centre=False):
    """Scales each Conv and Linear so that its output on `inputs` (float64
    tensors) has a standard deviation of 1.  Layers are visited in the order of
    execution, so each sees the already rescaled ones before it; a layer that is
    executed twice is rescaled once.  `model` is float64 during the pass and
    float32 afterwards; the scales are exact in both.

    With `centre`, every BatchNorm's drawn running mean is moved by the mean of
    what it is given here, as training would: without, the part of the signal
    that all inputs share grows from layer to layer, and the outputs of a deep
    network hardly depend on its input."""
    done = set()

    def centre_hook(module, inputs):
        if module in done:
            return
        done.add(module)
        x = inputs[0]
        means = x.mean([d for d in range(x.dim()) if d != 1])
        shift = torch.tensor([_short(float(mean)) for mean in means], dtype=torch.float64)
        module.running_mean.copy_((module.running_mean + shift).float().double())

    def hook(module, _, output):
        if module in done:
            return output
        done.add(module)
        deviation = float(output.std())
        if not np.isfinite(deviation) or deviation == 0.0:
            raise ValueError(f"a layer's output has standard deviation {deviation}: {module}")
        scale = _short(1.0 / deviation)
        # Rounded to float32 at once: the exported weights must be the very
        # ones that the float64 reference uses.
        module.weight.copy_((module.weight * scale).float().double())
        if module.bias is not None:
            module.bias.copy_((module.bias * scale).float().double())
        return output * scale

    layers = (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose2d, nn.Linear)
    handles = [m.register_forward_hook(hook) for m in model.modules() if isinstance(m, layers)]
    if centre:
        handles += [m.register_forward_pre_hook(centre_hook) for m in model.modules()
                    if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d))]
    try:
        model.double()
        model(*inputs)
    finally:
        for handle in handles:
            handle.remove()
        model.float()
