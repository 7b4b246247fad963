"""BERT with the head that predicts masked words, in PyTorch: fp32 parameters, bf16 autocast, fused
attention and AdamW, torch.compile of a block.

Logits are made of all tokens, as transformers' BertForMaskedLM makes them; with --masked-only of
those that bear loss, always as many, so that shapes stay the same.
"""
import torch
import torch.nn.functional as F
from torch import nn

from make_data import BERT_SPECIAL, random_tokens
from torch_common import Training, compile_model, read_options, serve

BATCHES = 8
EPSILON = 1e-12
MASKED_PART = 0.15
NO_TARGET = -100


class Block(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        width, inner = sizes["width"], sizes["inner"]
        self.heads = sizes["heads"]
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm1 = nn.LayerNorm(width, eps=EPSILON)
        self.up = nn.Linear(width, inner)
        self.down = nn.Linear(inner, width)
        self.norm2 = nn.LayerNorm(width, eps=EPSILON)

    def forward(self, x):  # (B, T, C)
        batch, length, width = x.shape
        parts = self.qkv(x).split(width, dim=2)
        q, k, v = (p.view(batch, length, self.heads, -1).transpose(1, 2) for p in parts)
        y = F.scaled_dot_product_attention(q, k, v)
        x = self.norm1(x + self.out(y.transpose(1, 2).reshape(batch, length, width)))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class Embedding(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        width = sizes["width"]
        vocabulary = -(-sizes["vocabulary"] // 64) * 64
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(sizes["positions"], width)
        self.segments = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=EPSILON)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.tokens(tokens) + self.positions(places) + self.segments(torch.zeros_like(tokens))
        return self.norm(x)


class Head(nn.Module):
    def __init__(self, sizes, table):
        super().__init__()
        width = sizes["width"]
        self.transform = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width, eps=EPSILON)
        self.table = table
        self.bias = nn.Parameter(torch.zeros(table.shape[0]))

    def forward(self, x, targets, chosen=None):  # (B, T, C), (B, T) or (N), (N)
        x = x.view(-1, x.shape[-1])
        if chosen is not None:
            x = x[chosen]
        logits = F.linear(self.norm(F.gelu(self.transform(x))), self.table, self.bias)
        return F.cross_entropy(logits, targets.view(-1), ignore_index=NO_TARGET)


class Bert(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.embed = Embedding(sizes)
        self.blocks = nn.ModuleList(Block(sizes) for _ in range(sizes["layers"]))
        self.head = Head(sizes, self.embed.tokens.weight)
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=0.02)

    def forward(self, tokens, targets, chosen=None):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x, targets, chosen)


def make_batch(case, options, seed):
    vocabulary = case.sizes["vocabulary"]
    count = case.batch * case.sequence
    words = torch.from_numpy(random_tokens(count, len(BERT_SPECIAL), vocabulary, seed))
    generator = torch.Generator().manual_seed(seed)
    chosen = torch.randperm(count, generator=generator)[:int(MASKED_PART * count)].sort().values
    tokens = words.clone()
    tokens[chosen] = BERT_SPECIAL.index("[MASK]")
    tokens = tokens.view(case.batch, case.sequence).to(options.device)
    if options.masked_only:
        return tokens, words[chosen].to(options.device), chosen.to(options.device)
    targets = torch.full_like(words, NO_TARGET)
    targets[chosen] = words[chosen]
    return tokens, targets.view(case.batch, case.sequence).to(options.device)


def main():
    options = read_options()
    case = options.case
    with torch.device(options.device):
        model = Bert(case.sizes)
    named = list(model.named_parameters())
    batches = [make_batch(case, options, number + 1) for number in range(BATCHES)]
    loss_of = compile_model(model, [model.embed, *model.blocks, model.head], options,
                            usual="blocks")
    tokens = [case.batch * case.sequence] * len(batches)
    serve(Training(loss_of, named, batches, tokens, autocast=True), options)


if __name__ == "__main__":
    main()
