"""The model as it is taught: the packed weights in torch, and two heads above them."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own custom

from adapters.e5.packed_model import PackedModel

WIDER = 4
"""How much wider the middle of a layer is than its ends."""

DROPPED = 0.1
"""Share of what a layer adds that is left out while it is taught, so that it learns no page by heart (Devlin
et al., 2019, arXiv:1810.04805, appendix A.2)."""


class Layer(nn.Module):  # type: ignore[misc]  # torch is not there when types are checked
    """One layer of the transformer; names are those of the packed tensors."""

    def __init__(self, model: PackedModel, name: str) -> None:
        super().__init__()
        width = model.shape.width
        self.heads = model.shape.heads
        self.q, self.k, self.v, self.ao = (
            _linear(model, name + part, width, width) for part in ("q", "k", "v", "ao")
        )
        self.aln, self.oln = (_norm(model, name + part) for part in ("aln", "oln"))
        self.fi = _linear(model, name + "fi", WIDER * width, width)
        self.fo = _linear(model, name + "fo", width, WIDER * width)
        self.drop = nn.Dropout(DROPPED)

    def forward(self, rows: Tensor, hidden: Tensor) -> Tensor:
        """``rows`` is (texts, tokens, width); ``hidden`` is added to attention: it keeps padding out."""
        asked, keys, values = (self._by_head(part(rows)) for part in (self.q, self.k, self.v))
        weights = asked @ keys.transpose(-1, -2) / math.sqrt(asked.shape[-1]) + hidden
        seen = torch.softmax(weights, -1).to(values.dtype) @ values
        rows = self.aln(rows + self.drop(self.ao(seen.transpose(1, 2).reshape(rows.shape))))
        return self.oln(rows + self.drop(self.fo(F.gelu(self.fi(rows), approximate="tanh"))))

    def _by_head(self, rows: Tensor) -> Tensor:
        texts, tokens, _ = rows.shape
        return rows.view(texts, tokens, self.heads, -1).transpose(1, 2)


class Network(nn.Module):  # type: ignore[misc]  # torch is not there when types are checked
    """Where the answer begins and ends, and whether there is one."""

    def __init__(self, model: PackedModel) -> None:
        super().__init__()
        width = model.shape.width
        words = model.tensor("emb.word", -1, width)
        self.word = nn.Embedding.from_pretrained(torch.from_numpy(words), freeze=True)
        self.pos = nn.Parameter(torch.from_numpy(model.tensor("emb.pos", -1, width)))
        self.every = nn.Parameter(torch.from_numpy(model.tensor("emb.type", -1, width)[0].copy()))
        self.ln = _norm(model, "emb.ln")
        self.layers = nn.ModuleList(Layer(model, f"l{number}.") for number in range(model.shape.layers))
        self.answer, self.whole = nn.Linear(width, 2), nn.Linear(2 * width, 1)
        for head in (self.answer, self.whole):
            nn.init.normal_(head.weight, std=0.02)

    def forward(self, numbers: Tensor, is_token: Tensor, may_answer: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Logits of begin and end over (texts, tokens), and of being answered.

        ``may_answer`` are the tokens among which an answer may lie, and the first, which stands for none.
        """
        rows = self.rows(numbers, is_token)
        starts, ends = self.answer(rows).masked_fill(~may_answer[:, :, None], -1e4).unbind(-1)
        return starts, ends, self.whole(torch.cat([rows[:, 0], mean_of(rows, is_token)], 1))[:, 0]

    def rows(self, numbers: Tensor, is_token: Tensor) -> Tensor:
        """The last layer's, (texts, tokens, width): before it was taught, the embedding model's own."""
        rows = self.ln(self.word(numbers) + self.pos[: numbers.shape[1]] + self.every)
        hidden = torch.zeros(is_token[:, None, None].shape, dtype=torch.bfloat16)
        hidden = hidden.masked_fill(~is_token[:, None, None], -1e4)
        for layer in self.layers:
            rows = layer(rows, hidden)
        return rows.float()


def mean_of(rows: Tensor, is_token: Tensor) -> Tensor:
    """Over the tokens of each text, (texts, width)."""
    return (rows * is_token[:, :, None]).sum(1) / is_token.sum(1, keepdim=True)


def _linear(model: PackedModel, name: str, outputs: int, inputs: int) -> nn.Linear:
    linear = nn.Linear(inputs, outputs)
    linear.weight.data = torch.from_numpy(model.tensor(name + ".w", outputs, inputs))
    linear.bias.data = torch.from_numpy(model.tensor(name + ".b", -1))
    return linear


def _norm(model: PackedModel, name: str) -> nn.LayerNorm:
    norm = nn.LayerNorm(model.shape.width, eps=model.shape.epsilon)
    norm.weight.data = torch.from_numpy(model.tensor(name + ".w", -1))
    norm.bias.data = torch.from_numpy(model.tensor(name + ".b", -1))
    return norm
