"""GPT-2 in PyTorch: fp32 parameters, bf16 autocast, fused attention and AdamW, torch.compile.

The vocabulary is filled up to a multiple of 64, which makes its products faster.
"""
import torch
import torch.nn.functional as F
from torch import nn

from make_data import random_tokens
from torch_common import Training, compile_model, read_options, serve

BATCHES = 8


class Block(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        width, inner = sizes["width"], sizes["inner"]
        self.heads = sizes["heads"]
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, inner)
        self.down = nn.Linear(inner, width)

    def forward(self, x):  # (B, T, C)
        batch, length, width = x.shape
        parts = self.qkv(self.norm1(x)).split(width, dim=2)
        q, k, v = (p.view(batch, length, self.heads, -1).transpose(1, 2) for p in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        width = sizes["width"]
        vocabulary = -(-sizes["vocabulary"] // 64) * 64
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(sizes["positions"], width)
        self.blocks = nn.ModuleList(Block(sizes) for _ in range(sizes["layers"]))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=0.02)
                if getattr(module, "bias", None) is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, tokens, targets):  # (B, T) each
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.tokens(tokens) + self.positions(places)
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1))


def make_batches(case, device):
    length = case.batch * (case.sequence + 1)
    batches = []
    for number in range(BATCHES):
        tokens = torch.from_numpy(random_tokens(length, 0, case.sizes["vocabulary"], number + 1))
        tokens = tokens.view(case.batch, case.sequence + 1).to(device)
        batches.append((tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()))
    return batches


def main():
    options = read_options()
    case = options.case
    with torch.device(options.device):
        model = GPT(case.sizes)
    named = list(model.named_parameters())
    batches = make_batches(case, options.device)
    loss_of = compile_model(model, model.blocks, options, usual="whole")
    tokens = [case.batch * case.sequence] * len(batches)
    serve(Training(loss_of, named, batches, tokens, autocast=True), options)


if __name__ == "__main__":
    main()
