"""Trains a GPT with PyTorch, eager, on the CPU, and prints how fast and in how much memory.

The model is what a careful user would write: fused attention (scaled_dot_product_attention), fused
GELU, one linear for queries, keys and values, gradients set to None, the fused AdamW where there is
one. Random tokens; the first step is not counted.

    torch_gpt.py MODEL BATCH SEQUENCE STEPS THREADS

prints one JSON object: tokens_per_s (median step), peak_bytes, device.
"""
import json
import pathlib
import resource
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

sys.path.append(str(pathlib.Path(__file__).parent.parent))
import devices  # noqa: E402

# blocks, heads, width, vocabulary, positions, head tied to the embedding
MODELS = {
    "gpt-micro": (4, 4, 128, 65, 128, False),
    "gpt-mini": (6, 6, 192, 65, 128, False),
    "gpt-30m": (8, 8, 512, 8192, 256, True),
    "gpt2": (12, 12, 768, 50257, 1024, True),
}


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        parts = self.qkv(self.norm1(x)).split(width, dim=2)
        q, k, v = (p.view(batch, tokens, self.heads, -1).transpose(1, 2) for p in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, blocks, heads, width, vocabulary, positions, tied):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(positions, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(blocks))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.apply(self.start)
        if tied:
            self.head.weight = self.tokens.weight

    @staticmethod
    def start(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)

    def forward(self, tokens, targets):
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1))


def is_decayed(name):
    return name.endswith("weight") and "norm" not in name


def make_optimizer(named):
    """By name, not by dimensions: sharded parameters may have lost theirs."""
    named = list(named)
    decayed = [p for name, p in named if is_decayed(name)]
    others = [p for name, p in named if not is_decayed(name)]
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.99), fused=True)


def main():
    name, (batch, sequence, steps, threads) = sys.argv[1], map(int, sys.argv[2:6])
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    model = GPT(*MODELS[name])
    optimizer = make_optimizer(model.named_parameters())
    seconds = []
    for _ in range(steps + 1):
        tokens = torch.randint(0, MODELS[name][3], (batch, sequence + 1))
        begin = time.perf_counter()
        loss = model(tokens[:, :-1], tokens[:, 1:].contiguous())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        seconds.append(time.perf_counter() - begin)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    step_s = statistics.median(seconds[1:])
    print(json.dumps({"tokens_per_s": batch * sequence / step_s, "peak_bytes": peak,
                      "device": devices.of_torch(torch, tokens.device)}))


if __name__ == "__main__":
    main()
