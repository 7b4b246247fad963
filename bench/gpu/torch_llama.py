"""Llama with LoRA in PyTorch: a frozen bf16 base, fp32 adapters on all linears of the blocks, fused
attention of grouped queries, torch.compile of a block.
"""
import torch
import torch.nn.functional as F
from torch import nn

from counts import llama_linears
from torch_common import Training, compile_model, read_options, serve
from torch_gpt import make_batches

EPSILON = 1e-5
THETA = 500000.0


class AdaptedLinear(nn.Module):
    """y = W x + scale B A x; W is frozen."""

    def __init__(self, columns, rows, case, dtype):
        super().__init__()
        self.scale = case.lora_alpha / case.lora_rank
        self.weight = nn.Parameter(torch.empty(rows, columns, dtype=dtype), requires_grad=False)
        self.lora_A = nn.Parameter(torch.empty(case.lora_rank, columns))
        self.lora_B = nn.Parameter(torch.zeros(rows, case.lora_rank))
        nn.init.normal_(self.weight, std=0.02)
        nn.init.uniform_(self.lora_A, -(columns ** -0.5), columns ** -0.5)

    def forward(self, x):
        low = F.linear(x, self.lora_A.to(x.dtype)) * self.scale
        return F.linear(x, self.weight) + F.linear(low, self.lora_B.to(x.dtype))


class RootNorm(nn.Module):
    def __init__(self, width, dtype):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width, dtype=dtype), requires_grad=False)

    def forward(self, x):
        wide = x.float()
        wide = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + EPSILON)
        return wide.to(x.dtype) * self.weight


def rotate(x, cosine, sine):
    """x: (B, H, T, D); the halves of a head turn against each other."""
    left, right = x.float().chunk(2, dim=-1)
    turned = torch.cat((left * cosine - right * sine, right * cosine + left * sine), dim=-1)
    return turned.to(x.dtype)


class Block(nn.Module):
    def __init__(self, case, dtype):
        super().__init__()
        sizes = case.sizes
        self.heads, self.kv_heads = sizes["heads"], sizes["kv_heads"]
        self.input_layernorm = RootNorm(sizes["width"], dtype)
        self.post_attention_layernorm = RootNorm(sizes["width"], dtype)
        linears = {name: AdaptedLinear(*shape, case, dtype)
                   for name, shape in llama_linears(sizes).items()}
        self.self_attn = nn.ModuleDict({n: m for n, m in linears.items() if n[0] in "qkvo"})
        self.mlp = nn.ModuleDict({n: m for n, m in linears.items() if n[0] not in "qkvo"})

    def attend(self, x, cosine, sine):
        batch, length, width = x.shape
        linears = self.self_attn
        q = linears["q_proj"](x).view(batch, length, self.heads, -1).transpose(1, 2)
        k = linears["k_proj"](x).view(batch, length, self.kv_heads, -1).transpose(1, 2)
        v = linears["v_proj"](x).view(batch, length, self.kv_heads, -1).transpose(1, 2)
        y = F.scaled_dot_product_attention(rotate(q, cosine, sine), rotate(k, cosine, sine), v,
                                           is_causal=True, enable_gqa=True)
        return linears["o_proj"](y.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x, cosine, sine):  # (B, T, C), (T, D/2) each
        x = x + self.attend(self.input_layernorm(x), cosine, sine)
        y = self.post_attention_layernorm(x)
        return x + self.mlp["down_proj"](F.silu(self.mlp["gate_proj"](y)) * self.mlp["up_proj"](y))


class Head(nn.Module):
    """The last norm, the logits and their loss; frozen."""

    def __init__(self, sizes, dtype):
        super().__init__()
        self.norm = RootNorm(sizes["width"], dtype)
        self.weight = nn.Parameter(torch.empty(sizes["vocabulary"], sizes["width"], dtype=dtype),
                                   requires_grad=False)
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, x, targets):
        logits = F.linear(self.norm(x), self.weight)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]).float(), targets.view(-1))


class Llama(nn.Module):
    def __init__(self, case, dtype):
        super().__init__()
        sizes = case.sizes
        self.embed = nn.Parameter(torch.empty(sizes["vocabulary"], sizes["width"], dtype=dtype),
                                  requires_grad=False)
        nn.init.normal_(self.embed, std=0.02)
        self.blocks = nn.ModuleList(Block(case, dtype) for _ in range(sizes["layers"]))
        self.head = Head(sizes, dtype)
        half = sizes["width"] // sizes["heads"] // 2
        frequencies = THETA ** (-torch.arange(half, dtype=torch.float64) / half)
        angles = torch.outer(torch.arange(case.sequence, dtype=torch.float64), frequencies)
        self.register_buffer("cosine", angles.cos().float(), persistent=False)
        self.register_buffer("sine", angles.sin().float(), persistent=False)

    def forward(self, tokens, targets):  # (B, T) each
        x = F.embedding(tokens, self.embed)
        for block in self.blocks:
            x = block(x, self.cosine, self.sine)
        return self.head(x, targets)


def trained(model):
    return [(name, p) for name, p in model.named_parameters() if p.requires_grad]


def main():
    options = read_options()
    case = options.case
    with torch.device(options.device):
        model = Llama(case, torch.bfloat16)
    named = trained(model)
    batches = make_batches(case, options.device)
    loss_of = compile_model(model, [*model.blocks, model.head], options, usual="blocks")
    tokens = [case.batch * case.sequence] * len(batches)
    serve(Training(loss_of, named, batches, tokens, autocast=False), options)


if __name__ == "__main__":
    main()
