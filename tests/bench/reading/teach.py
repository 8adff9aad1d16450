"""Teaches the reader: ``python -m tests.bench.reading.teach FILE.npz [--minutes 60]``.

Needs torch, which nothing else does: ``pip install torch``. Half of what is shown are answers to find, half
are pages that do not answer. The loss is that of where the answer begins and ends, begin and end of the whole
standing for none (Devlin et al., 2019, arXiv:1810.04805, section 4.3), and of whether there is one.

Kept is the mean of the last states (Wortsman et al., 2022, arXiv:2203.05482). The file holds it in four
bits a number, see `pack`.
"""

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own custom

from adapters.e5.installed import installed_model
from adapters.e5.packed_model import open_packed
from adapters.e5.tokenizing import BEGIN, END, Tokenizer
from adapters.readers.inputs import Input, Inputs
from tests.bench.reading.groups import Group, read_groups
from tests.bench.reading.network import Network, mean_of
from tests.bench.reading.pack import pack
from tests.bench.reading.pairs import SHARES, Nearness, Pair, Pairs

BATCH, STEPS_AHEAD, SAME_LENGTH = 32, 64, 16
"""Pairs in a step; steps drawn at once and sorted by length; tokens that a batch's length is rounded to."""

RATE, HEAD_RATE, WARM_STEPS, LAST = 2e-4, 5e-4, 60, 0.02
"""Steps' sizes of the model and of the new heads; they rise over so many steps and fall to this share."""

LONGEST_NEAR = 126
"""Tokens by which a page is compared with questions."""

KEPT_EVERY, MEAN_OF = 0.1, 3
"""A state is kept after each such share of the time; what is written is the mean of so many last ones."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What `Network` is given, and the tokens at which the answer begins and ends: 0 for none."""

    numbers: Tensor
    is_token: Tensor
    may_answer: Tensor
    starts: Tensor
    ends: Tensor


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


class Kept:
    """States of the network on the way, beside the file that is written."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._states = list[dict[str, Tensor]]()

    def keep(self, network: Network, done: float) -> None:
        """This one."""
        self._states.append({name: tensor.clone() for name, tensor in network.state_dict().items()})
        del self._states[:-MEAN_OF]
        torch.save(self._states[-1], self._file.with_stem(f"{self._file.stem}-{done:.0%}"))

    def mean(self) -> dict[str, Tensor]:
        """Of the last ones."""
        return {name: sum(one[name] for one in self._states) / len(self._states) for name in self._states[0]}


def teach(
    network: Network, source: Iterator[Batch], kept: Kept, *, minutes: float, rate: float, last: float
) -> None:
    """Until the time is over."""
    network.train()
    heads = [*network.answer.parameters(), *network.whole.parameters()]
    known = {id(one) for one in heads}
    body = [one for one in network.parameters() if one.requires_grad and id(one) not in known]
    optimizer = torch.optim.AdamW(
        [{"params": body, "lr": rate}, {"params": heads, "lr": HEAD_RATE}], weight_decay=0.01, fused=True
    )
    rates = [group["lr"] for group in optimizer.param_groups]
    started, step, losses, next_kept = time.monotonic(), 0, list[float](), KEPT_EVERY
    while (done := (time.monotonic() - started) / (60 * minutes)) < 1:
        step += 1
        for group, highest in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = highest * min(1, step / WARM_STEPS) * max(last, 1 - done)
        loss = loss_of(network, next(source))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_([*body, *heads], 1.0)
        optimizer.step()
        losses.append(loss.item())
        if step % 50 == 0:
            pace = step * BATCH / (time.monotonic() - started)
            say(f"{done:4.0%}  step {step}  loss {np.mean(losses[-50:]):.3f}  {pace:.0f} pairs a second")
        if done >= next_kept:
            kept.keep(network, next_kept)
            next_kept += KEPT_EVERY
    kept.keep(network, 1)


def say(text: str) -> None:
    """Print at once."""
    print(text, flush=True)  # noqa: T201 - a command's output


def nearness(network: Network, tokenizer: Tokenizer, groups: Sequence[Group]) -> Nearness:
    """What the embedding model takes to be near, before it is taught anything else."""
    network.eval()
    asked = [f"query: {one.text}" for group in groups for one in group.questions]
    pages = [f"passage: {page.title} {page.text}" for group in groups for page in group.pages]
    return Nearness(
        _by_group(vectors(network, tokenizer, asked), [len(group.questions) for group in groups]),
        _by_group(vectors(network, tokenizer, pages), [len(group.pages) for group in groups]),
    )


def vectors(network: Network, tokenizer: Tokenizer, texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """A unit vector for each text, in their order."""
    cut = [tokenizer.cut(text).numbers[:LONGEST_NEAR] for text in texts]
    order = sorted(range(len(cut)), key=lambda at: len(cut[at]))
    found = np.zeros((len(texts), network.answer.in_features), np.float32)
    for start in range(0, len(order), 2 * BATCH):
        part = order[start : start + 2 * BATCH]
        longest = max(len(cut[at]) for at in part) + 2
        numbers = np.ones((len(part), longest), np.int64)
        is_token = np.zeros((len(part), longest), bool)
        for row, at in enumerate(part):
            whole = (BEGIN, *cut[at], END)
            numbers[row, : len(whole)], is_token[row, : len(whole)] = whole, True
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            told = torch.from_numpy(is_token)
            found[part] = F.normalize(mean_of(network.rows(torch.from_numpy(numbers), told), told)).numpy()
    return found


def _by_group(rows: npt.NDArray[np.float32], counts: Sequence[int]) -> list[npt.NDArray[np.float32]]:
    return np.split(rows, np.cumsum(counts)[:-1])


def main(arguments: Sequence[str]) -> int:
    """Teach, and write what was learned."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="what is written, such as adapters/readers/e5_reader.npz")
    parser.add_argument("--minutes", type=float, default=100, help="with 20 pairs a second or more (100)")
    parser.add_argument("--rate", type=float, default=RATE, help=f"size of the first steps ({RATE})")
    parser.add_argument("--last", type=float, default=LAST, help=f"share of it at the end ({LAST})")
    parser.add_argument("--from", dest="before", type=Path, help="a state kept by an earlier run")
    parser.add_argument("--groups", type=Path, nargs="*", help="files of groups (those beside this module)")
    chosen = parser.parse_args(arguments)
    draw = random.Random(0)
    torch.manual_seed(0)
    packed = open_packed(installed_model())
    network = Network(packed)
    tokenizer = Tokenizer(packed.vocabulary)
    taught = [one for one in read_groups(chosen.groups) if not one.is_held_out]
    say(f"{len(taught)} groups, {sum(len(one.questions) for one in taught)} questions")
    pairs = Pairs(taught, nearness(network, tokenizer, taught), draw)
    say("the nearest are known")
    if chosen.before is not None:
        network.load_state_dict(torch.load(chosen.before))
    source = batches(pairs.drawn(SHARES), Inputs(tokenizer), draw)
    kept = Kept(chosen.file.with_suffix(".pt"))
    teach(network, source, kept, minutes=chosen.minutes, rate=chosen.rate, last=chosen.last)
    np.savez(chosen.file, allow_pickle=False, **pack(kept.mean(), packed))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
