"""Writes a model and its data as a folder in the style of ONNX's backend tests.

    NAME/model.onnx
    NAME/test_data_set_0/input_K.pb      TensorProto, as the model takes it
    NAME/test_data_set_0/output_K.pb     TensorProto, the reference rounded to float32
    NAME/test_data_set_0/reference_K.pb  TensorProto, float64

`class.json` is there for models of another class than fp32 and says how much the
class itself errs: 4 times that is the limit of the model's error.

`peer_error.json`, with the error of ONNX Runtime, is added by //bench/ort:ort_main.
"""

import os

import numpy as np
from onnx import numpy_helper


def check_outputs(references, other_references):
    """Raises ValueError unless every output has a standard deviation in
    [0.1, 10] and two unlike inputs change it, in root mean square, by more than
    10 % of that deviation.  Constant or vanishing outputs would pass any
    comparison."""
    for index, (one, other) in enumerate(zip(references, other_references)):
        if not np.isfinite(one).all():
            raise ValueError(f"output {index} is not finite")
        deviation = one.std()
        if not 0.1 <= deviation <= 10:
            raise ValueError(f"output {index} has standard deviation {deviation:.3g}")
        change = np.sqrt(np.mean((one - other) ** 2))
        if change <= 0.1 * deviation:
            raise ValueError(f"output {index} changes by {change:.3g} between two unlike inputs, "
                             f"10 % of its standard deviation is {0.1 * deviation:.3g}")


def error(outputs, references):
    """e = max|y - r| / max|r|, the largest over the outputs."""
    return max(float(np.abs(y.astype(np.float64) - r).max() / np.abs(r).max())
               for y, r in zip(outputs, references))


def write_class(folder, name, class_error):
    with open(f"{folder}/test_data_set_0/class.json", "w") as file:
        file.write(f'{{\n  "class": "{name}",\n  "class_error": {class_error:.3e}\n}}\n')


def _write(path, message):
    with open(path, "wb") as file:
        file.write(message.SerializeToString(deterministic=True))


def write(folder, model, inputs, references):
    """`model` is a ModelProto; `inputs` and `references` are lists of (name,
    array) in the model's order; references are float64."""
    data = os.path.join(folder, "test_data_set_0")
    os.makedirs(data, exist_ok=True)
    _write(os.path.join(folder, "model.onnx"), model)
    for index, (name, values) in enumerate(inputs):
        _write(f"{data}/input_{index}.pb", numpy_helper.from_array(values, name))
    for index, (name, values) in enumerate(references):
        assert values.dtype == np.float64
        _write(f"{data}/reference_{index}.pb", numpy_helper.from_array(values, name))
        _write(f"{data}/output_{index}.pb",
               numpy_helper.from_array(values.astype(np.float32), name))
