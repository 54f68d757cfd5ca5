#!/usr/bin/python3
"""Exports models with drawn parameters and float64 references to ONNX.

    bench/models/export.py --out=DIR [MODEL ...]

needs Debian's python3-torch, python3-torchvision and python3-onnx.  The same
seed gives the same files.
"""

import argparse
import io
import os
import sys
import warnings

import numpy as np
import onnx
import torch

import parameters
import testcase
import zoo


def to_onnx(model, example, opset, fold_batchnorm):
    """The ModelProto of `model`.  Unless folded, BatchNormalization stays a
    node of its own, so that the compiler's folding is what is tested."""
    buffer = io.BytesIO()
    modes = torch.onnx.TrainingMode
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "exporting in training mode": it is not, see eval()
        torch.onnx.export(
            model, (example,), buffer, opset_version=opset,
            input_names=["x"], output_names=["y"],
            training=modes.EVAL if fold_batchnorm else modes.PRESERVE,
            do_constant_folding=fold_batchnorm)
    proto = onnx.load_from_string(buffer.getvalue())
    for node in proto.graph.node:
        node.ClearField("doc_string")
    onnx.checker.check_model(proto, full_check=True)
    return proto


def export(name, out, seed=0, batch=None, opset=17, fold_batchnorm=False):
    """Writes OUT/NAME; returns the folder and the reference output."""
    entry = zoo.MODELS[name]
    shape = ((batch,) if batch else entry.input_shape[:1]) + entry.input_shape[1:]
    model = entry.build().eval()
    parameters.draw(model, seed)

    def draw_input(which):
        return entry.draw_input(parameters.stream(seed, f"input {which}"), shape)

    def reference(values):
        with torch.no_grad():
            return model.double()(torch.from_numpy(values).double()).numpy()

    x = draw_input(0)
    parameters.rescale_to_unit_output(model, [torch.from_numpy(x).double()])
    proto = to_onnx(model.float(), torch.from_numpy(x), opset, fold_batchnorm)
    y = reference(x)
    testcase.check_outputs([y], [reference(draw_input(1))])
    folder = os.path.join(out, name)
    testcase.write(folder, proto, [("x", x)], [("y", y)])
    return folder, y


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL",
                        help=f"which to export, default all of: {' '.join(zoo.MODELS)}")
    parser.add_argument("--out", required=True, help="folder that gets one folder per model")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=int, help="rows or images, instead of the model's own")
    parser.add_argument("--opset", type=int, default=17)
    parser.add_argument("--fold-batchnorm", action="store_true",
                        help="let torch fold BatchNorm into the convolution before it")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.models if name not in zoo.MODELS]
    if unknown:
        parser.error(f"unknown model {unknown[0]}; choose from {' '.join(zoo.MODELS)}")
    torch.set_num_threads(1)  # the order of a sum, and so its last bit, is then fixed
    for name in arguments.models or zoo.MODELS:
        folder, y = export(name, arguments.out, arguments.seed, arguments.batch,
                           arguments.opset, arguments.fold_batchnorm)
        size = os.path.getsize(os.path.join(folder, "model.onnx"))
        print(f"{folder}: {size / 1024:.0f} KiB, output {list(y.shape)}, "
              f"standard deviation {np.std(y):.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
