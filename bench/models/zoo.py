"""The models that can be exported: one entry each.

An entry says how to build the torch model (no pretrained weights) and how to
draw an input.  To add a model, add an entry to MODELS.
"""

import dataclasses
import operator
from typing import Callable, Tuple

import numpy as np
import torch
from torch import nn

from nets import (bert, bsrn, conformer, crnn, decoder, latent_unet, mobilevit, nafnet, nerf,
                  restormer, unet, vit)


@dataclasses.dataclass(frozen=True)
class Input:
    name: str
    # With batch 1; dimension 0 is the batch (rows for an MLP, samples for a
    # NeRF) and is overridden by --batch.
    shape: Tuple[int, ...]
    # (random stream, shape) -> array.
    draw: Callable[[np.random.Generator, Tuple[int, ...]], np.ndarray]
    # Names the random stream.
    stream: str = "input"


@dataclasses.dataclass(frozen=True)
class Model:
    build: Callable[[], nn.Module]
    inputs: Tuple[Input, ...]
    outputs: Tuple[str, ...] = ("y",)
    # See parameters.rescale_to_unit_output.
    centre: bool = False


def one_input(build, shape, draw, **options):
    return Model(build, (Input("x", shape, draw),), **options)


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


def video(random, shape):
    """A video [N, C, T, H, W] of unrelated images."""
    n, c, t, h, w = shape
    return image(random, (n * t, c, h, w)).reshape(n, t, c, h, w).swapaxes(1, 2).copy()


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


def torchvision_model(name, **arguments):
    def build():
        import torchvision
        return operator.attrgetter(name)(torchvision.models)(weights=None, **arguments)
    return build


class Segmentation(nn.Module):
    """A torchvision segmentation network that returns its classes alone."""

    def __init__(self, name):
        super().__init__()
        self.network = torchvision_model(f"segmentation.{name}", weights_backbone=None)()

    def forward(self, x):
        return self.network(x)["out"]


def convnext(widths, depths, classes=1000):
    from torchvision.models import convnext as family
    following = widths[1:] + (None,)
    settings = [family.CNBlockConfig(*row) for row in zip(widths, following, depths)]
    return family.ConvNeXt(settings, num_classes=classes)


def swin(embed_dim, depths, heads, window=7, classes=1000):
    from torchvision.models.swin_transformer import SwinTransformer
    return SwinTransformer(patch_size=[4, 4], embed_dim=embed_dim, depths=list(depths),
                           num_heads=list(heads), window_size=[window, window],
                           num_classes=classes)


def vgg16_small():
    """For images of 64: there the features are 2x2, which replace the 7x7."""
    model = torchvision_model("vgg16")()
    model.avgpool = nn.Identity()
    model.classifier[0] = nn.Linear(512 * 2 * 2, 4096)
    return narrow(model, 32, classes=10)


def mlp(widths):
    """Linear layers between the given widths, a ReLU between every two."""
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def bert_inputs(vocabulary, tokens):
    return (Input("ids", (1, tokens), bert.token_ids(vocabulary), "ids"),
            Input("mask", (1, tokens), bert.mask, "mask"))


def decoder_step(past, layers=12, heads=4, head_width=64, **arguments):
    """One token behind `past` others."""
    vocabulary = arguments.get("vocabulary", 32000)
    names = [f"{part}{layer}" for layer in range(layers) for part in ("keys", "values")]
    cache = tuple(Input(name, (1, heads, past, head_width), normal, name) for name in names)
    return Model(lambda: decoder.Decoder(layers=layers, cached_heads=heads, **arguments),
                 (Input("ids", (1, 1), bert.token_ids(vocabulary), "ids"),) + cache,
                 ("logits",) + tuple("longer_" + name for name in names))


def diffusion_step(size, **arguments):
    return Model(lambda: latent_unet.LatentUnet(**arguments),
                 (Input("latents", (1, 4, size, size), image, "latents"),
                  Input("time", (1,), lambda random, shape: random.uniform(
                      0, 1000, shape).astype(np.float32), "time")))


def gemm(m, k, n):
    """One product [m, k] x [k, n] with constant weights and a bias."""
    return one_input(lambda: nn.Linear(k, n), (m, k), normal)


IMAGE = (1, 3, 224, 224)
SMALL_IMAGE = (1, 3, 64, 64)

MODELS = {
    "resnet18": one_input(torchvision_model("resnet18"), IMAGE, image),
    "resnet50": one_input(torchvision_model("resnet50"), IMAGE, image),
    "mobilenet_v2": one_input(torchvision_model("mobilenet_v2"), IMAGE, image,
                              centre=True),
    "vgg16": one_input(torchvision_model("vgg16"), IMAGE, image),
    "bert_base": Model(bert.Bert, bert_inputs(30522, 128), ("hidden", "pooled")),
    "convnext_tiny": one_input(lambda: convnext((96, 192, 384, 768), (3, 3, 9, 3)), IMAGE, image),
    "swin_t": one_input(lambda: swin(96, (2, 2, 6, 2), (3, 6, 12, 24)), IMAGE, image),
    "vit_s": one_input(vit.VisionTransformer, IMAGE, image),
    # One ray batch: positions and directions, already encoded.
    "nerf_mlp": one_input(nerf.NerfMlp, (8192, 90), nerf.encoded_samples),
    # 7-layer MLP, 64 wide: bound by memory unless its layers are fused.
    "mlp64": one_input(lambda: mlp([64] * 8), (65536, 64), normal),
    "nafnet": one_input(nafnet.NafNet, (1, 3, 128, 128), image),
    "conformer": one_input(conformer.Conformer, (1, 512, 80), conformer.spectrogram),
    "mobilevit_s": one_input(mobilevit.MobileVit, (1, 3, 256, 256), image),
    "restormer": one_input(restormer.Restormer, (1, 3, 128, 128), image),
    "bsrn": one_input(bsrn.Bsrn, (1, 3, 256, 256), image),
    "unet": one_input(unet.UNet, (1, 3, 256, 256), image),
    # Networks that no kernel and no rule was made for.
    "crnn": one_input(crnn.Crnn, (1, 1, 32, 320), image, centre=True),
    "decoder_step": decoder_step(255),
    "deeplab": one_input(lambda: Segmentation("deeplabv3_mobilenet_v3_large"), (1, 3, 320, 320),
                         image, centre=True),
    "densenet121": one_input(torchvision_model("densenet121"), IMAGE, image, centre=True),
    "diffusion_step": diffusion_step(32),
    "efficientnet_b0": one_input(torchvision_model("efficientnet_b0"), IMAGE, image, centre=True),
    "efficientnet_v2_s": one_input(torchvision_model("efficientnet_v2_s"), IMAGE, image,
                                   centre=True),
    "inception_v3": one_input(torchvision_model("inception_v3", init_weights=False,
                                                aux_logits=False), (1, 3, 299, 299), image,
                              centre=True),
    "lraspp": one_input(lambda: Segmentation("lraspp_mobilenet_v3_large"), (1, 3, 512, 512),
                        image, centre=True),
    "maxvit": one_input(torchvision_model("maxvit_t"), IMAGE, image, centre=True),
    "mobilenet_v3_s": one_input(torchvision_model("mobilenet_v3_small"), IMAGE, image,
                                centre=True),
    "regnet_y": one_input(torchvision_model("regnet_y_400mf"), IMAGE, image, centre=True),
    "resnext50": one_input(torchvision_model("resnext50_32x4d"), IMAGE, image, centre=True),
    "r3d_18": one_input(torchvision_model("video.r3d_18"), (1, 3, 16, 112, 112), video,
                        centre=True),
    "shufflenet_v2": one_input(torchvision_model("shufflenet_v2_x1_0"), IMAGE, image, centre=True),
    # One matrix product each, for the share of the peak; those with 128 rows are BERT's.
    "gemm512": gemm(512, 512, 512),
    "gemm1024": gemm(1024, 1024, 1024),
    "gemm2048": gemm(2048, 2048, 2048),
    "gemm_128x768x768": gemm(128, 768, 768),
    "gemm_128x768x3072": gemm(128, 768, 3072),
    "gemm_128x3072x768": gemm(128, 3072, 768),
    # Small enough to be committed: every network of the zoo with fewer channels and layers.
    "resnet18_small": one_input(lambda: narrow(torchvision_model("resnet18")(), 8, classes=10),
                                SMALL_IMAGE, image),
    "resnet50_small": one_input(lambda: narrow(torchvision_model("resnet50")(), 16, classes=10),
                                SMALL_IMAGE, image),
    "mobilenet_v2_small": one_input(
        lambda: narrow(torchvision_model("mobilenet_v2")(), 8, classes=10), SMALL_IMAGE, image),
    "vgg16_small": one_input(vgg16_small, SMALL_IMAGE, image),
    "bert_small": Model(lambda: bert.Bert(100, 48, layers=2, heads=4, positions=32),
                        bert_inputs(100, 19), ("hidden", "pooled")),
    "convnext_small": one_input(lambda: convnext((8, 16, 24, 40), (1, 1, 2, 1), classes=10),
                                SMALL_IMAGE, image),
    "swin_small": one_input(lambda: swin(16, (2, 2), (2, 4), window=4, classes=10),
                            (1, 3, 40, 40), image),
    "vit_small": one_input(lambda: vit.VisionTransformer(40, 8, 48, layers=2, heads=3, classes=10),
                           (1, 3, 40, 40), image),
    "nerf_small": one_input(lambda: nerf.NerfMlp(32), (100, 90), nerf.encoded_samples),
    "nafnet_small": one_input(lambda: nafnet.NafNet(8, (1, 1), 1, (1, 1)), (1, 3, 24, 24), image),
    "conformer_small": one_input(lambda: conformer.Conformer(20, 64, 24, layers=2, taps=7),
                                 (1, 64, 20), conformer.spectrogram),
    "mobilevit_small": one_input(
        lambda: mobilevit.MobileVit((4, 6, 8, 12, 16, 20), (12, 16, 20), (1, 1, 1), 32, 10),
        SMALL_IMAGE, image),
    "restormer_small": one_input(lambda: restormer.Restormer(6, (1, 1, 1, 1), refinement=1),
                                 (1, 3, 16, 16), image),
    "bsrn_small": one_input(lambda: bsrn.Bsrn(32, blocks=2), (1, 3, 24, 24), image),
    "unet_small": one_input(lambda: unet.UNet(4, levels=3), (1, 3, 24, 24), image),
    "mlp64_small": one_input(lambda: mlp([64] * 8), (100, 64), normal),
    "mlp_odd": one_input(lambda: mlp([13, 37, 29, 5]), (7, 13), normal),
}
