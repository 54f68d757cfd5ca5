#!/usr/bin/python3
"""Copies a model with weights that repeat, so that it and what is compiled of it
compress to little: for kernels that are timed on another machine.

    bench/models/repeat_weights.py MODEL.onnx COPY.onnx

Every large float tensor becomes its first values over and over; what
BatchNormalization has of its own becomes one value each, so that folding it into
the weights leaves those as they are.  Outputs are other ones, shapes and kernels
the same.
"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

PERIOD = 4093  # a prime: no extent of a tensor is a multiple


def repeated(values):
    return np.resize(values.reshape(-1)[:PERIOD], values.shape)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    model = onnx.load(sys.argv[1])
    normalized = {name for node in model.graph.node if node.op_type == "BatchNormalization"
                  for name in node.input[1:5]}
    for tensor in model.graph.initializer:
        if tensor.data_type != TensorProto.FLOAT:
            continue
        values = numpy_helper.to_array(tensor)
        if tensor.name in normalized:
            values = np.full_like(values, values.mean())
        elif values.size > 2 * PERIOD:
            values = repeated(values)
        tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(values), tensor.name))
    onnx.save(model, sys.argv[2])


if __name__ == "__main__":
    main()
