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

import half
import parameters
import quantized
import testcase
import zoo


def to_onnx(model, inputs, outputs, opset, fold_batchnorm):
    """The ModelProto of `model`; `inputs` are (name, tensor), `outputs` names.
    Unless folded, BatchNormalization stays a node of its own, so that the
    compiler's folding is what is tested."""
    buffer = io.BytesIO()
    modes = torch.onnx.TrainingMode
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "exporting in training mode": it is not, see eval()
        torch.onnx.export(
            model, tuple(tensor for _, tensor in inputs), buffer, opset_version=opset,
            input_names=[name for name, _ in inputs], output_names=list(outputs),
            training=modes.EVAL if fold_batchnorm else modes.PRESERVE,
            do_constant_folding=fold_batchnorm)
    proto = onnx.load_from_string(buffer.getvalue())
    for node in proto.graph.node:
        node.ClearField("doc_string")
    onnx.checker.check_model(proto, full_check=True)
    return proto


def export(name, out, seed=0, batch=None, opset=17, fold_batchnorm=False, precision="fp32"):
    """Writes OUT/NAME, with _bN where a batch is given and the class where it is
    not fp32; returns the folder and the reference outputs."""
    entry = zoo.MODELS[name]
    model = entry.build().eval()
    parameters.draw(model, seed)

    def draw_inputs(which):
        return [(part.name, part.draw(parameters.stream(seed, f"{part.stream} {which}"),
                                      ((batch,) if batch else part.shape[:1]) + part.shape[1:]))
                for part in entry.inputs]

    def tensors(inputs, real):
        values = [torch.from_numpy(array) for _, array in inputs]
        return [v.to(real) if v.is_floating_point() else v for v in values]

    def reference(inputs):
        with torch.no_grad():
            outputs = model.double()(*tensors(inputs, torch.float64))
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        return [output.numpy() for output in outputs]

    inputs = draw_inputs(0)
    parameters.rescale_to_unit_output(model, tensors(inputs, torch.float64), entry.centre)
    references = reference(inputs)
    testcase.check_outputs(references, reference(draw_inputs(1)))
    class_error = None
    if precision == "int8":
        proto, y = quantized.quantize(model.double(), tensors(inputs, torch.float64)[0])
        references, class_error = [y], 0.0
    else:
        named = list(zip((name for name, _ in inputs), tensors(inputs, torch.float32)))
        proto = to_onnx(model.float(), named, entry.outputs, opset, fold_batchnorm)
    if precision == "fp16":
        proto = half.to_half(proto)
        outputs = half.run(model.float(), tensors(inputs, torch.float32))
        class_error = testcase.error(outputs, references)
    suffix = (f"_b{batch}" if batch else "") + (f"_{precision}" if precision != "fp32" else "")
    folder = os.path.join(out, name + suffix)
    testcase.write(folder, proto, inputs, list(zip(entry.outputs, references)))
    if class_error is not None:
        testcase.write_class(folder, precision, class_error)
    return folder, references


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL",
                        help=f"which to export, default all of: {' '.join(zoo.MODELS)}")
    parser.add_argument("--out", required=True, help="folder that gets one folder per model")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=int, help="rows or images, instead of the model's own")
    parser.add_argument("--opset", type=int, default=17)
    parser.add_argument("--precision", choices=["fp32", "fp16", "int8"], default="fp32",
                        help="fp16: storage, arithmetic is fp32; int8: quantized, resnet18 alone")
    parser.add_argument("--fold-batchnorm", action="store_true",
                        help="let torch fold BatchNorm into the convolution before it")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.models if name not in zoo.MODELS]
    if unknown:
        parser.error(f"unknown model {unknown[0]}; choose from {' '.join(zoo.MODELS)}")
    torch.set_num_threads(1)  # the order of a sum, and so its last bit, is then fixed
    for name in arguments.models or zoo.MODELS:
        folder, references = export(name, arguments.out, arguments.seed, arguments.batch,
                                    arguments.opset, arguments.fold_batchnorm, arguments.precision)
        size = os.path.getsize(os.path.join(folder, "model.onnx"))
        for y in references:
            print(f"{folder}: {size / 1024:.0f} KiB, output {list(y.shape)}, "
                  f"standard deviation {np.std(y):.3f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
