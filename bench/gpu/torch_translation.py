"""The Transformer of Vaswani et al. (2017) in PyTorch: fp32 parameters, bf16 autocast, fused
attention and AdamW, torch.compile of a block with shapes that vary.

Post-norm blocks, sinusoidal positions, one table for both embeddings and the head, label smoothing
of 0.1, no dropout. Batches are of pairs of like length and filled up to a multiple of 8, which
attention with a mask is fast at; tokens that are counted are those of sentences and their ends.
"""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from make_data import PAIR_SPECIAL, pair_lengths, random_tokens
from torch_common import Training, compile_model, read_options, serve

BATCHES = 24
MULTIPLE = 8
NO_TARGET = -100
PAD, START, END = (PAIR_SPECIAL.index(name) for name in ("<pad>", "<s>", "</s>"))


class Attention(nn.Module):
    def __init__(self, sizes, cross):
        super().__init__()
        width = sizes["width"]
        self.heads = sizes["heads"]
        self.cross = cross
        self.queries = nn.Linear(width, width if cross else 3 * width)
        self.memory = nn.Linear(width, 2 * width) if cross else None
        self.out = nn.Linear(width, width)

    def cut(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x, memory=None, mask=None, causal=False):
        width = x.shape[2]
        if self.cross:
            q = self.queries(x)
            k, v = self.memory(memory).split(width, dim=2)
        else:
            q, k, v = self.queries(x).split(width, dim=2)
        y = F.scaled_dot_product_attention(self.cut(q), self.cut(k), self.cut(v), attn_mask=mask,
                                           is_causal=causal)
        return self.out(y.transpose(1, 2).reshape(x.shape))


class FeedForward(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.up = nn.Linear(sizes["width"], sizes["inner"])
        self.down = nn.Linear(sizes["inner"], sizes["width"])

    def forward(self, x):
        return self.down(F.relu(self.up(x)))


class EncoderBlock(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.attention = Attention(sizes, cross=False)
        self.norm1 = nn.LayerNorm(sizes["width"])
        self.feed = FeedForward(sizes)
        self.norm2 = nn.LayerNorm(sizes["width"])

    def forward(self, x, mask):  # (B, S, C), (B, 1, 1, S)
        x = self.norm1(x + self.attention(x, mask=mask))
        return self.norm2(x + self.feed(x))


class DecoderBlock(nn.Module):
    """Filling comes last, where no token that counts looks: only the encoder's is masked."""

    def __init__(self, sizes):
        super().__init__()
        self.attention = Attention(sizes, cross=False)
        self.norm1 = nn.LayerNorm(sizes["width"])
        self.cross = Attention(sizes, cross=True)
        self.norm2 = nn.LayerNorm(sizes["width"])
        self.feed = FeedForward(sizes)
        self.norm3 = nn.LayerNorm(sizes["width"])

    def forward(self, x, memory, mask):  # (B, T, C), (B, S, C), (B, 1, 1, S)
        x = self.norm1(x + self.attention(x, causal=True))
        x = self.norm2(x + self.cross(x, memory, mask))
        return self.norm3(x + self.feed(x))


class Embedding(nn.Module):
    def __init__(self, sizes, table):
        super().__init__()
        width = sizes["width"]
        self.table = table
        self.scale = width ** 0.5
        rates = 10000 ** (-torch.arange(width // 2, dtype=torch.float64) * 2 / width)
        angles = torch.outer(torch.arange(sizes["positions"], dtype=torch.float64), rates)
        places = torch.cat((angles.sin(), angles.cos()), dim=1).float()
        self.register_buffer("places", places, persistent=False)

    def forward(self, tokens):
        return F.embedding(tokens, self.table) * self.scale + self.places[:tokens.shape[1]]


class Head(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.table = table

    def forward(self, x, targets):
        logits = F.linear(x, self.table)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1),
                               ignore_index=NO_TARGET, label_smoothing=0.1)


class Transformer(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.table = nn.Parameter(torch.empty(sizes["vocabulary"], sizes["width"]))
        self.embed = Embedding(sizes, self.table)
        self.encoder = nn.ModuleList(EncoderBlock(sizes) for _ in range(sizes["layers"]))
        self.decoder = nn.ModuleList(DecoderBlock(sizes) for _ in range(sizes["layers"]))
        self.head = Head(self.table)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, source, mask, inputs, targets):
        memory = self.embed(source)
        for block in self.encoder:
            memory = block(memory, mask)
        x = self.embed(inputs)
        for block in self.decoder:
            x = block(x, memory, mask)
        return self.head(x, targets)


def cut_pieces(pairs, most):
    """Pairs of like length, at most `most` tokens on either side with filling."""
    pieces, piece, longest = [], [], 0
    for pair in sorted(pairs, key=max):
        wider = -(-max(longest, *pair) // MULTIPLE) * MULTIPLE
        if piece and wider * (len(piece) + 1) > most:
            pieces.append(piece)
            piece, wider = [], -(-max(pair) // MULTIPLE) * MULTIPLE
        piece.append(pair)
        longest = wider
    return pieces + [piece]


def fill_rows(lengths, vocabulary, seed):
    """(B, T) of sentences that end, with filling behind them."""
    length = -(-max(lengths) // MULTIPLE) * MULTIPLE
    shape = (len(lengths), length)
    rows = random_tokens(shape[0] * length, len(PAIR_SPECIAL), vocabulary, seed).reshape(shape)
    for row, count in zip(rows, lengths):
        row[count - 1] = END
        row[count:] = PAD
    return torch.from_numpy(rows)


def make_batch(piece, vocabulary, device, seed):
    source = fill_rows([s for s, _ in piece], vocabulary, 2 * seed)
    target = fill_rows([t for _, t in piece], vocabulary, 2 * seed + 1)
    inputs = torch.cat((torch.full((len(piece), 1), START), target[:, :-1]), dim=1)
    mask = (source != PAD)[:, None, None, :]
    labels = torch.where(target == PAD, NO_TARGET, target)
    return tuple(tensor.to(device) for tensor in (source, mask, inputs, labels))


def main():
    options = read_options()
    case = options.case
    pieces = cut_pieces(pair_lengths(BATCHES * case.batch_tokens), case.batch_tokens)
    np.random.default_rng(1).shuffle(pieces)
    batches = [make_batch(piece, case.sizes["vocabulary"], options.device, number)
               for number, piece in enumerate(pieces)]
    tokens = [sum(s + t for s, t in piece) for piece in pieces]
    with torch.device(options.device):
        model = Transformer(case.sizes)
    named = list(model.named_parameters())
    blocks = [model.embed, *model.encoder, *model.decoder, model.head]
    loss_of = compile_model(model, blocks, options, usual="blocks", dynamic=True)
    serve(Training(loss_of, named, batches, tokens, autocast=True), options)


if __name__ == "__main__":
    main()
