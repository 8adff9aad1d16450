"""Teaches the reader: ``python -m tests.bench.reading.teach FILE.npz [--minutes 60]``.

Needs torch, which nothing else does: ``pip install torch``. Half of what is shown are answers to find, half
are pages that do not answer. The loss is that of where the answer begins and ends, begin and end of the whole
standing for none (Devlin et al., 2019, arXiv:1810.04805, section 4.3), and of whether there is one.

Kept is the mean of the weights after one pass over the pairs, after half of another, and after some more with
pages of other groups: none of them is best everywhere (Wortsman et al., 2022, arXiv:2203.05482). The file
holds it as products of two small matrices for each of the model's, see `pack`.
"""

import argparse
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own custom

from adapters.readers.e5_reader import installed_model
from adapters.readers.inputs import Input, Inputs
from adapters.readers.packed_model import open_packed
from adapters.readers.tokenizing import Tokenizer
from tests.bench.reading.groups import Group, Pair, Relation, pairs, read_groups
from tests.bench.reading.network import Network
from tests.bench.reading.pack import pack

BATCH, STEPS_AHEAD, SAME_LENGTH = 32, 16, 32
"""Pairs in a step; steps drawn at once and sorted by length; tokens that a batch's length is rounded to."""

RATE, LATER_RATE, HEAD_RATE, WARM_STEPS, LAST = 2e-4, 1e-4, 5e-4, 60, 0.02
"""Steps' sizes of the model, at first and later, and of the new heads; they rise over so many steps and fall
to this share."""

SHARES = {Relation.ANSWERS: 0.42, Relation.NEAR: 0.30, Relation.SIBLING: 0.18, Relation.FAR: 0.05}
"""How often each kind of pair is shown; what is left are questions with pages of other groups."""

STRANGE_SHARES = {kind: 0.8 * share for kind, share in SHARES.items()}
"""The same towards the end."""

ALIKE, RUN = 40, 4
"""Of so many other pages that is shown which shares most runs of so many letters with the question."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What `Network` is given, and the tokens at which the answer begins and ends: 0 for none."""

    numbers: Tensor
    is_token: Tensor
    may_answer: Tensor
    starts: Tensor
    ends: Tensor


def drawn(groups: Sequence[Group], draw: random.Random, shares: Mapping[Relation, float]) -> Iterator[Pair]:
    """Pairs without end, in these shares."""
    known = list(pairs(groups))
    turns = {kind: _round_and_round([one for one in known if one.relation is kind], draw) for kind in shares}
    strangers = _strangers(groups, draw)
    chances = [*shares.values(), 1 - sum(shares.values())]
    while True:
        yield next(draw.choices([*turns.values(), strangers], chances)[0])


def _strangers(groups: Sequence[Group], draw: random.Random) -> Iterator[Pair]:
    pages = [(group, page, _runs(f"{page.title} {page.text}")) for group in groups for page in group.pages]
    while True:
        group = draw.choice(groups)
        question = draw.choice(group.questions).text
        wanted = _runs(question)
        others = [one for one in draw.sample(pages, ALIKE) if one[0] is not group]
        _, page, _ = max(others, key=lambda one: len(wanted & one[2]))
        yield Pair(question, page, Relation.FAR)


def _runs(text: str) -> frozenset[str]:
    lower = text.lower()
    return frozenset(lower[at : at + RUN] for at in range(len(lower) - RUN + 1))


def _round_and_round(members: list[Pair], draw: random.Random) -> Iterator[Pair]:
    while True:
        yield from draw.sample(members, len(members))


def batches(source: Iterator[Pair], inputs: Inputs, draw: random.Random) -> Iterator[Batch]:
    """Batches of pairs about as long as one another."""
    while True:
        ahead = [_labelled(next(source), inputs) for _ in range(BATCH * STEPS_AHEAD)]
        ahead.sort(key=lambda one: len(one[0].numbers))
        parts = [ahead[start : start + BATCH] for start in range(0, len(ahead), BATCH)]
        draw.shuffle(parts)
        yield from map(_batch, parts)


def _labelled(pair: Pair, inputs: Inputs) -> tuple[Input, int, int]:
    """With the tokens of the answer, as far as it was not cut off."""
    read = inputs.of(inputs.question(pair.question), pair.page.writing)
    if pair.answer is None:
        return read, 0, 0
    start, end = pair.answer
    within = [at for at, (first, last) in enumerate(read.places) if last > start and first < end]
    return (read, read.first + within[0], read.first + within[-1]) if within else (read, 0, 0)


def _batch(members: Sequence[tuple[Input, int, int]]) -> Batch:
    longest = max(len(one.numbers) for one, _, _ in members)
    shape = (len(members), -(-longest // SAME_LENGTH) * SAME_LENGTH)
    numbers = np.ones(shape, np.int64)
    is_token, may_answer = np.zeros(shape, bool), np.zeros(shape, bool)
    for row, (one, _, _) in enumerate(members):
        numbers[row, : len(one.numbers)] = one.numbers
        is_token[row, : len(one.numbers)] = True
        may_answer[row, [0, *range(one.first, one.first + len(one.places))]] = True
    return Batch(
        torch.from_numpy(numbers),
        torch.from_numpy(is_token),
        torch.from_numpy(may_answer),
        torch.tensor([start for _, start, _ in members]),
        torch.tensor([end for _, _, end in members]),
    )


def loss_of(network: Network, batch: Batch) -> Tensor:
    """Of place and of presence."""
    with torch.autocast("cpu", torch.bfloat16):
        starts, ends, whole = network(batch.numbers, batch.is_token, batch.may_answer)
    place = F.cross_entropy(starts.float(), batch.starts) + F.cross_entropy(ends.float(), batch.ends)
    return place / 2 + F.binary_cross_entropy_with_logits(whole.float(), (batch.starts > 0).float())


def teach(network: Network, source: Iterator[Batch], *, minutes: float, rate: float) -> None:
    """Until the time is over."""
    heads = [*network.answer.parameters(), *network.whole.parameters()]
    known = {id(one) for one in heads}
    body = [one for one in network.parameters() if one.requires_grad and id(one) not in known]
    optimizer = torch.optim.AdamW(
        [{"params": body, "lr": rate}, {"params": heads, "lr": HEAD_RATE}], weight_decay=0.01, fused=True
    )
    rates = [group["lr"] for group in optimizer.param_groups]
    started, step, losses = time.monotonic(), 0, list[float]()
    while (done := (time.monotonic() - started) / (60 * minutes)) < 1:
        step += 1
        for group, highest in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = highest * min(1, step / WARM_STEPS) * max(LAST, 1 - done)
        loss = loss_of(network, next(source))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_([*body, *heads], 1.0)
        optimizer.step()
        losses.append(loss.item())
        if step % 50 == 0:
            pace = step * BATCH / (time.monotonic() - started)
            say(f"{done:4.0%}  step {step}  loss {np.mean(losses[-50:]):.3f}  {pace:.0f} pairs a second")


def say(text: str) -> None:
    """Print at once."""
    print(text, flush=True)  # noqa: T201 - a command's output


def main(arguments: Sequence[str]) -> int:
    """Teach, and write what was learned."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="what is written, such as adapters/readers/e5_reader.npz")
    parser.add_argument("--minutes", type=float, default=60, help="with 15 pairs a second or more (60)")
    chosen = parser.parse_args(arguments)
    draw = random.Random(0)
    torch.manual_seed(0)
    packed = open_packed(installed_model())
    network = Network(packed)
    taught = [one for one in read_groups() if not one.is_held_out]
    say(f"{len(taught)} groups")
    inputs = Inputs(Tokenizer(packed.vocabulary))
    states = []
    for shares, rate, part in (
        (SHARES, RATE, 0.4),
        (SHARES, LATER_RATE, 0.25),
        (STRANGE_SHARES, LATER_RATE, 0.35),
    ):
        source = batches(drawn(taught, draw, shares), inputs, draw)
        teach(network, source, minutes=chosen.minutes * part, rate=rate)
        states.append({name: tensor.clone() for name, tensor in network.state_dict().items()})
    mean = {name: sum(state[name] for state in states) / len(states) for name in states[0]}
    np.savez(chosen.file, allow_pickle=False, **pack(mean, packed))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
