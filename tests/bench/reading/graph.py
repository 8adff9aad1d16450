"""What the built-in model computes, for ONNX Runtime: ``python -m tests.bench.reading.graph FILE``.

The file is `adapters/e5/e5_small.onnx`. It holds no weights: `adapters.e5.weights` gives them, by
the names used here. Steps are the runtime's own fused ones where it has them (domain ``com.microsoft``).
"""

import sys
from pathlib import Path

import onnx
from onnx import NodeProto, TensorProto, helper

from adapters.e5.installed import installed_model
from adapters.e5.packed_model import Shape, open_packed

WIDER = 4
"""How much wider the middle of a layer is than its ends."""

OPSET, IR_VERSION = 17, 8
"""The oldest that have all that is used: so any version of the runtime can read the file."""

_FUSED = "com.microsoft"


class _Steps:
    """Nodes and the weights they need, in order."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self.nodes: list[NodeProto] = []
        self.weights: list[TensorProto] = []

    def all(self) -> str:
        """From rows of embeddings to the last hidden states; returns the name of those."""
        first = ["rows", *self._scale_and_shift("emb.ln")]
        last = self._step("LayerNormalization", "", first, "emb.ln", epsilon=self._shape.epsilon)
        for number in range(self._shape.layers):
            last = self._layer(last, f"l{number}.")
        return last

    def _layer(self, rows: str, name: str) -> str:
        width, wide = self._shape.width, WIDER * self._shape.width
        heads = self._shape.heads
        qkv = [self._weight(f"{name}qkv.w", width, 3 * width), self._weight(f"{name}qkv.b", 3 * width)]
        seen = self._step("Attention", _FUSED, [rows, *qkv], f"{name}seen", num_heads=heads)
        mixed = self._product(seen, f"{name}ao", width, width)
        rows = self._joined(mixed, rows, f"{name}aln", f"{name}ao.b")
        widened = self._product(rows, f"{name}fi", width, wide)
        bent = self._step("FastGelu", _FUSED, [widened, self._weight(f"{name}fi.b", wide)], f"{name}gelu")
        narrowed = self._product(bent, f"{name}fo", wide, width)
        return self._joined(narrowed, rows, f"{name}oln", f"{name}fo.b")

    def _joined(self, made: str, rows: str, name: str, bias: str) -> str:
        inputs = [made, rows, *self._scale_and_shift(name), self._weight(bias, self._shape.width)]
        return self._step("SkipLayerNormalization", _FUSED, inputs, name, epsilon=self._shape.epsilon)

    def _scale_and_shift(self, name: str) -> list[str]:
        return [self._weight(f"{name}.{part}", self._shape.width) for part in "wb"]

    def _product(self, rows: str, name: str, inputs: int, outputs: int) -> str:
        return self._step("MatMul", "", [rows, self._weight(f"{name}.w", inputs, outputs)], name)

    def _step(self, kind: str, domain: str, inputs: list[str], output: str, **settings: float) -> str:
        node = helper.make_node(kind, inputs, [output], domain=domain)
        node.attribute.extend(helper.make_attribute(name, value) for name, value in settings.items())
        self.nodes.append(node)
        return output

    def _weight(self, name: str, *sizes: int) -> str:
        weight = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=sizes)
        # There is no such file: its content is given when the graph is loaded.
        weight.data_location = TensorProto.EXTERNAL
        weight.external_data.add(key="location", value=name)
        self.weights.append(weight)
        return name


def graph(shape: Shape) -> onnx.ModelProto:
    """For one text: ``rows``, (1, tokens, width), to ``states`` of the same shape."""
    steps = _Steps(shape)
    last = steps.all()
    steps.nodes.append(helper.make_node("Identity", [last], ["states"]))
    given, found = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, "tokens", shape.width])
        for name in ("rows", "states")
    )
    return helper.make_model(
        helper.make_graph(steps.nodes, "reader", [given], [found], steps.weights),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(_FUSED, 1)],
        ir_version=IR_VERSION,
    )


def main(arguments: list[str]) -> int:
    """Write the graph for the installed model."""
    (file,) = arguments
    Path(file).write_bytes(graph(open_packed(installed_model()).shape).SerializeToString())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
