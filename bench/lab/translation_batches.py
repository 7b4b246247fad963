"""Pairs of sentences in micro-batches, the same as yoke's: pairs of like length put together up to
so many tokens, whose rows are divided among the ranks."""
import random
import sys
from pathlib import Path

import torch
import torch.distributed as dist

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "gpu"))
import torch_translation as paper  # noqa: E402

BUCKET_PART = 16  # lengths of a bucket are within a sixteenth, as yoke has it


def gather(value):
    """What every rank says, on every rank."""
    values = [None] * dist.get_world_size()
    dist.all_gather_object(values, value)
    return values


def part_of(things, rank, size):
    return things[len(things) * rank // size:len(things) * (rank + 1) // size]


def encode(path, tokenizer, longest):
    """Sentences with their ends, None for one that is not taken. Ranks encode a part each."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    own = part_of(lines, dist.get_rank(), dist.get_world_size())
    encoded = tokenizer.encode_batch(own, add_special_tokens=False)
    end = tokenizer.token_to_id("</s>")
    parts = gather([line.ids + [end] if 0 < len(line.ids) < longest else None for line in encoded])
    return [sentence for part in parts for sentence in part]


def read_pairs(options):
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(options.tokenizer)
    sides = [encode(path, tokenizer, options.longest) for path in (options.source, options.target)]
    return [pair for pair in zip(*sides) if None not in pair]


def up(length, multiple):
    return -(-length // multiple) * multiple


def cut_pieces(pairs, tokens, multiple, seed):
    """Pieces of at most `tokens` on either side, pairs of like length together, in random order."""
    generator = random.Random(seed)
    ordered = sorted(pairs, key=lambda pair: max(map(len, pair)))
    pieces, first = [], 0
    buckets = []
    while first < len(ordered):
        shortest = max(map(len, ordered[first]))
        most = shortest + shortest // BUCKET_PART
        end = first
        while end < len(ordered) and max(map(len, ordered[end])) <= most:
            end += 1
        bucket = ordered[first:end]
        generator.shuffle(bucket)
        buckets += [(pair, most) for pair in bucket]
        first = end
    piece = []
    for pair, most in buckets:
        if piece and (len(piece) + 1) * up(most, multiple) > tokens:
            pieces.append(piece)
            piece = []
        piece.append(pair)
    pieces.append(piece)
    generator.shuffle(pieces)
    return pieces


def fill(sentences, length):
    rows = torch.full((len(sentences), length), paper.PAD)
    for row, sentence in zip(rows, sentences):
        row[:len(sentence)] = torch.tensor(sentence)
    return rows


def without_filling(target):
    return torch.where(target == paper.PAD, paper.NO_TARGET, target)


class Batch:
    """What a rank takes of a piece, and what it must know of the whole: targets of all ranks only
    where the loss is one rank's."""

    def __init__(self, piece, multiple, device, loss_of_one):
        rank, size = dist.get_rank(), dist.get_world_size()
        self.bounds = [len(piece) * r // size for r in range(size + 1)]
        own = part_of(piece, rank, size)
        lengths = [up(max(map(len, side)), multiple) for side in zip(*piece)]
        source, target = (fill(side, length) for side, length in zip(zip(*own), lengths))
        inputs = torch.cat((torch.full((len(own), 1), paper.START), target[:, :-1]), dim=1)
        self.tensors = [tensor.to(device) for tensor in
                        (source, (source != paper.PAD)[:, None, None, :], inputs)]
        self.targets = without_filling(target).to(device)
        if loss_of_one and rank == 0:
            everyone = fill([pair[1] for pair in piece], lengths[1])
            self.all_targets = without_filling(everyone).to(device)
        self.counted = sum(len(pair[1]) for pair in piece)
        self.present = sum(len(side) for pair in piece for side in pair)
