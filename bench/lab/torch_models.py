"""GPT of any size in PyTorch, as bench/lab trains it on several ranks: fp32 parameters, products in
bf16 on GPUs, fused attention, the head tied to the embedding.

Everything that ranks share with yoke comes from a folder: config.json and model.safetensors with
the names of Hugging Face, so that both sides begin with the same numbers.
"""
import json
import os

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

TYPES = {"F32": torch.float32, "BF16": torch.bfloat16, "F16": torch.float16}


def read_sizes(folder):
    with open(f"{folder}/config.json", encoding="utf-8") as file:
        config = json.load(file)
    width = config["n_embd"]
    return {"width": width, "inner": config.get("n_inner") or 4 * width,
            "layers": config["n_layer"], "heads": config["n_head"],
            "vocabulary": config["vocab_size"], "positions": config["n_positions"]}


class Block(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        width, inner = sizes["width"], sizes["inner"]
        self.heads = sizes["heads"]
        self.recompute = False  # saves its input only, and runs again during backward
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, inner)
        self.down = nn.Linear(inner, width)

    def forward(self, x):  # (B, T, C)
        if self.recompute:
            return checkpoint(self.compute, x, use_reentrant=False)
        return self.compute(x)

    def compute(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.norm1(x)).split(width, dim=2)
        q, k, v = (p.view(batch, length, self.heads, -1).transpose(1, 2) for p in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


def head_loss(x, table, targets):
    """The mean loss of (B, T, C) against (B, T), in fp32."""
    logits = F.linear(x, table)
    return F.cross_entropy(logits.view(-1, logits.shape[-1]).float(), targets.view(-1))


class GPT(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        width = sizes["width"]
        self.tokens = nn.Embedding(sizes["vocabulary"], width)
        self.positions = nn.Embedding(sizes["positions"], width)
        self.blocks = nn.ModuleList(Block(sizes) for _ in range(sizes["layers"]))
        self.norm = nn.LayerNorm(width)
        self.lose = head_loss

    def forward(self, tokens, targets):  # (B, T) each
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.tokens(tokens) + self.positions(places)
        for block in self.blocks:
            x = block(x)
        return self.lose(self.norm(x), self.tokens.weight, targets)


def compile_pieces(model):
    """Each block by itself, whose code all blocks share, and the loss: gradients of one block can
    then be exchanged while the next is computed. What fully_shard hangs on a block stays outside of
    what is compiled."""
    for number, block in enumerate(model.blocks):
        model.blocks[number] = torch.compile(block, dynamic=False)
    model.lose = torch.compile(head_loss, dynamic=False)


def hugging_name(name):
    """(name in model.safetensors, whether that is the other way round) of blocks.3.qkv.weight …"""
    name = name.replace("_orig_mod.", "")
    if not name.startswith("blocks."):
        outer = {"tokens": "wte", "positions": "wpe", "norm": "ln_f"}
        first, rest = name.split(".", 1)
        return f"transformer.{outer[first]}.{rest}", False
    inner = {"norm1": "ln_1", "qkv": "attn.c_attn", "out": "attn.c_proj", "norm2": "ln_2",
             "up": "mlp.c_fc", "down": "mlp.c_proj"}
    _, number, part, rest = name.split(".")
    return f"transformer.h.{number}.{inner[part]}.{rest}", rest == "weight" and "norm" not in part


class Weights:
    """The tensors of a model.safetensors, mapped: what is not asked for is not read."""

    def __init__(self, folder):
        path = f"{folder}/model.safetensors"
        self.entries = None
        if not os.path.exists(path):
            return
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            self.entries = json.loads(file.read(length))
        self.bytes = np.memmap(path, np.uint8, "c", offset=8 + length)

    def get(self, name):
        wanted, turned = hugging_name(name)
        entry = self.entries[wanted]
        first, end = entry["data_offsets"]
        tensor = torch.from_numpy(self.bytes[first:end]).view(TYPES[entry["dtype"]])
        tensor = tensor.view(entry["shape"])
        return tensor.t() if turned else tensor


def rows_of_rank(tensor, rank, ranks):
    """What fully_shard gives a rank of a tensor."""
    parts = torch.chunk(tensor, ranks)
    return parts[rank] if rank < len(parts) else tensor[:0]


@torch.no_grad()
def fill(model, folder, rank=0, ranks=1):
    """Fills whole or sharded parameters by the folder's weights, or roughly where it has none."""
    weights = Weights(folder)
    torch.manual_seed(1)
    for name, parameter in model.named_parameters():
        here = parameter.to_local() if hasattr(parameter, "to_local") else parameter
        if weights.entries is not None:
            whole = weights.get(name)
            part = whole if here is parameter else rows_of_rank(whole, rank, ranks)
            here.copy_(part.to(here.device))  # turned there, which takes a CPU longer than the way
        elif "norm" in name:
            here.fill_(1.0 if name.endswith("weight") else 0.0)
        elif name.endswith("bias"):
            here.zero_()
        else:
            here.normal_(std=0.02)
