"""The class of float16 storage with float32 arithmetic.

`to_half` makes such a model of a float32 one; `run` computes a torch model that
way, so that its error against float64 says what the class costs.
"""

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper, TensorProto
from torch.utils._python_dispatch import TorchDispatchMode

LARGEST = 65504.0


def _round(values):
    """To the nearest float16; what is too large becomes the largest."""
    return np.clip(values, -LARGEST, LARGEST).astype(np.float16)


def _half_tensor(tensor):
    if tensor.data_type == TensorProto.FLOAT:
        tensor.CopyFrom(numpy_helper.from_array(_round(numpy_helper.to_array(tensor)),
                                                tensor.name))


def to_half(proto):
    """`proto` with float16 tensors; its inputs and outputs stay float32 behind a
    Cast. REQUIRES: no operator with an input that must be float32 (Resize)."""
    graph = proto.graph
    for tensor in graph.initializer:
        _half_tensor(tensor)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                _half_tensor(attribute.t)
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.FLOAT16
    del graph.value_info[:]

    def is_float(info):
        return info.type.tensor_type.elem_type == TensorProto.FLOAT

    inputs = {i.name: f"{i.name}.half" for i in graph.input if is_float(i)}
    outputs = {o.name: f"{o.name}.half" for o in graph.output if is_float(o)}
    renamed = {**inputs, **outputs}
    for node in graph.node:
        node.input[:] = [renamed.get(name, name) for name in node.input]
        node.output[:] = [renamed.get(name, name) for name in node.output]
    before = [helper.make_node("Cast", [name], [half], to=TensorProto.FLOAT16)
              for name, half in inputs.items()]
    after = [helper.make_node("Cast", [half], [name], to=TensorProto.FLOAT)
             for name, half in outputs.items()]
    nodes = before + list(graph.node) + after
    del graph.node[:]
    graph.node.extend(nodes)
    onnx.checker.check_model(proto, full_check=True)
    return proto


class _RoundEveryResult(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, (tuple, list)) else (result,):
            # An expanded view shares elements; they are rounded already.
            if (isinstance(tensor, torch.Tensor) and tensor.dtype == torch.float32
                    and 0 not in tensor.stride()):
                tensor.copy_(tensor.clamp(-LARGEST, LARGEST).half().float())
        return result


@torch.no_grad()
def run(model, inputs):
    """The outputs of a float32 copy of `model` whose parameters, inputs and every
    intermediate result are rounded to float16."""
    for tensor in list(model.parameters()) + list(model.buffers()):
        if tensor.is_floating_point():
            tensor.copy_(tensor.half().float())
    rounded = [x.half().float() if x.is_floating_point() else x for x in inputs]
    with _RoundEveryResult():
        outputs = model(*rounded)
    return [y.numpy() for y in (outputs if isinstance(outputs, tuple) else (outputs,))]
