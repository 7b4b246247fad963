"""The Transformer of Vaswani et al. (2017) under PyTorch's DistributedDataParallel: one process of
many (RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT say which), many settings one after the other.

    torch_translation_dp.py SETTINGS --model config.json --tokenizer tokenizer.json
        --source train.en --target train.de [--device cuda] [--out results.jsonl]

SETTINGS is a file of JSON lines, a setting each:

    name      of the row
    precision fp32, fp16 (autocast and GradScaler) or bf16 (autocast)
    tokens    of a micro-batch of all ranks on either side, filling included
    micro     micro-batches of a step (1); sync: "last" reduces gradients in the last alone, as
              no_sync() does, "each" in every one
    bucket    bucket_cap_mb (25); compress: gradients travel in bf16 (DDP's bf16_compress_hook)
    qkv       "fused", or "streams": three products on CUDA streams of their own
    loss      "every" rank computes its own, or rank 0 of "one" gets all logits and computes it
    compiled  torch.compile of every block, for shapes that vary

Rank 0 writes one JSON object for each: median step of the second half, tokens without filling a
second, what a step takes without any reduction (what is more than that is exposed), memory of every
rank, the last loss. A setting that fails is a row that says why, and the next one follows.

Batches are those of translation_batches.py; gradients are those of the mean loss over all tokens of
the step, clipped at a norm of 1. Filling up to a multiple of 8 is tried first, by a few steps
without reduction, and kept if it is faster. Standard error tells when each setting began.
"""
from progress import say  # first, since its clock begins

import argparse
import contextlib
import copy
import datetime
import functools
import gc
import json
import os
import statistics
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel

sys.path.append(str(Path(__file__).parent.parent))
import devices  # noqa: E402
from translation_batches import Batch, cut_pieces, gather, paper, read_pairs

NO_TARGET = paper.NO_TARGET
SMOOTHING = 0.1
CLIP = 1.0
TYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
USUAL = {"precision": "bf16", "tokens": 16384, "micro": 1, "sync": "last", "bucket": 25,
         "compress": False, "qkv": "fused", "loss": "every", "compiled": False}
TRIED_STEPS = 3  # twice each, to choose between 1 and 8
ALONE_STEPS = 3  # without reduction


# ---- the model ----

class Translator(paper.Transformer):
    """As the paper's, but for the loss: it makes logits."""

    def forward(self, source, mask, inputs):
        memory = self.embed(source)
        for block in self.encoder:
            memory = block(memory, mask)
        x = self.embed(inputs)
        for block in self.decoder:
            x = block(x, memory, mask)
        return F.linear(x, self.table)


def sizes_of(path):
    config = json.loads(Path(path).read_text(encoding="utf-8"))
    if config["encoder_layers"] != config["decoder_layers"]:
        raise ValueError(f"{path}: encoder and decoder must have as many layers as each other")
    return {"layers": config["encoder_layers"], "heads": config["encoder_attention_heads"],
            "width": config["d_model"], "inner": config["encoder_ffn_dim"],
            "vocabulary": config["vocab_size"], "positions": config["max_position_embeddings"]}


def cast(tensor):
    """As autocast would, once for all three products."""
    wanted = torch.is_autocast_enabled("cuda")
    return tensor.to(torch.get_autocast_dtype("cuda")) if wanted else tensor


def attend_by_streams(attention):
    """Queries, keys and values by three products, side by side."""
    streams = [torch.cuda.Stream() for _ in range(3)]

    def forward(x, memory=None, mask=None, causal=False):
        ready = torch.cuda.current_stream()
        x = cast(x)
        weights = cast(attention.queries.weight).chunk(3)
        biases = cast(attention.queries.bias).chunk(3)
        parts = []
        for stream, weight, bias in zip(streams, weights, biases):
            stream.wait_stream(ready)
            with torch.cuda.stream(stream):
                parts.append(F.linear(x, weight, bias))
        for stream, part in zip(streams, parts):
            ready.wait_stream(stream)
            part.record_stream(ready)
            x.record_stream(stream)
        y = F.scaled_dot_product_attention(*map(attention.cut, parts), attn_mask=mask,
                                           is_causal=causal)
        return attention.out(y.transpose(1, 2).reshape(x.shape))

    attention.forward = forward


class LossOfOne(torch.autograd.Function):
    """Rank 0 gets the logits of all, and sends back the gradients of theirs."""

    @staticmethod
    def forward(ctx, logits, batch):
        rank, bounds = dist.get_rank(), batch.bounds
        logits = logits.contiguous()
        if rank > 0:
            ctx.gradient = torch.empty_like(logits)
            dist.send(logits, 0)
            dist.recv(ctx.gradient, 0)
            return logits.new_zeros((), dtype=torch.float32)
        whole = logits.new_empty((bounds[-1], *logits.shape[1:]))
        whole[:bounds[1]] = logits
        for other in range(1, dist.get_world_size()):
            dist.recv(whole[bounds[other]:bounds[other + 1]], other)
        with torch.enable_grad():
            whole.requires_grad_()
            loss = sum_of_losses(whole, batch.all_targets)
        gradient, = torch.autograd.grad(loss, whole)
        for other in range(1, dist.get_world_size()):
            dist.send(gradient[bounds[other]:bounds[other + 1]].contiguous(), other)
        ctx.gradient = gradient[:bounds[1]]
        return loss.detach().float()

    @staticmethod
    def backward(ctx, gradient):
        return ctx.gradient * gradient.to(ctx.gradient.dtype), None  # the same factor on all ranks


def sum_of_losses(logits, targets):
    return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1),
                           ignore_index=NO_TARGET, label_smoothing=SMOOTHING, reduction="sum")


# ---- training ----

class Training:
    def __init__(self, setting, start, options):
        self.setting, self.device = setting, options.device
        if self.device == "cpu" and (setting["compress"] or setting["qkv"] == "streams"):
            raise ValueError("this needs a GPU")
        model = copy.deepcopy(start).to(self.device)
        if setting["qkv"] == "streams":
            for block in [*model.encoder, *model.decoder]:
                attend_by_streams(block.attention)
        if setting["compiled"]:
            torch._dynamo.reset()
            torch._dynamo.config.recompile_limit = 64
            for block in [*model.encoder, *model.decoder]:
                block.compile(dynamic=True)
        own = [torch.cuda.current_device()] if self.device == "cuda" else None
        self.model = DistributedDataParallel(model, device_ids=own, gradient_as_bucket_view=True,
                                             bucket_cap_mb=setting["bucket"])
        if setting["compress"]:
            self.model.register_comm_hook(None, default_hooks.bf16_compress_hook)
        self.parameters = list(model.parameters())
        groups = [{"params": [p for p in self.parameters if p.dim() > 1], "weight_decay": 0.01},
                  {"params": [p for p in self.parameters if p.dim() <= 1], "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=5e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
        self.scaler = torch.amp.GradScaler(self.device, enabled=setting["precision"] == "fp16")

    def pass_over(self, batch, counted):
        kind = TYPES[self.setting["precision"]]
        with torch.autocast(self.device, kind, enabled=kind != torch.float32):
            logits = self.model(*batch.tensors)
            if self.setting["loss"] == "one":
                loss = LossOfOne.apply(logits, batch)
            else:
                loss = sum_of_losses(logits, batch.targets)
        # DDP divides by the ranks what is to be the mean over the tokens of all of them.
        loss = loss * (dist.get_world_size() / counted)
        self.scaler.scale(loss).backward()
        return loss.detach()

    def step(self, batches, reduces=True):
        counted = sum(batch.counted for batch in batches)
        loss = 0
        for number, batch in enumerate(batches):
            last = number == len(batches) - 1
            quiet = not reduces or (self.setting["sync"] == "last" and not last)
            with self.model.no_sync() if quiet else contextlib.nullcontext():
                loss = loss + self.pass_over(batch, counted)
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.parameters, CLIP)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=False)
        return loss

    def timed_steps(self, batches, count, first=0, reduces=True):
        """(seconds, tokens, losses) of steps; a GPU is not waited for between them."""
        micro = self.setting["micro"]
        dist.barrier()
        marks, tokens, losses = [self.mark()], [], []
        for number in range(first, first + count):
            taken = [batches[(number * micro + m) % len(batches)] for m in range(micro)]
            losses.append(self.step(taken, reduces))
            marks.append(self.mark())
            tokens.append(sum(batch.present for batch in taken))
        losses = [float(loss) for loss in losses]  # which waits for all of it
        seconds = [b - a for a, b in zip(marks, marks[1:])] if self.device == "cpu" else \
                  [a.elapsed_time(b) / 1e3 for a, b in zip(marks, marks[1:])]
        return seconds, tokens, losses

    def mark(self):
        if self.device == "cpu":
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event


def slowest(seconds):
    """Of every step: ranks wait for each other in each."""
    return [max(step) for step in zip(*gather(seconds))]


def make_batches(setting, cut, multiple, steps, options):
    pieces = cut(setting["tokens"], multiple)[:setting["micro"] * steps]
    return [Batch(piece, multiple, options.device, setting["loss"] == "one") for piece in pieces]


def measure(setting, start, cut, multiple, options):
    training = Training(setting, start, options)
    batches = make_batches(setting, cut, multiple, options.steps + 1, options)
    warmup = options.warmup if not setting["compiled"] else max(options.warmup, len(batches))
    training.timed_steps(batches, warmup)
    if options.device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    seconds, tokens, losses = training.timed_steps(batches, options.steps)
    half = options.steps // 2
    own = [0, 0]
    if options.device == "cuda":
        own = [torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()]
    # Of the steps that count, after one that does not.
    few = max(2, min(ALONE_STEPS + 1, options.steps - half + 1))
    alone = training.timed_steps(batches, few, max(0, half - 1), reduces=False)[0][1:]
    seconds = slowest(seconds)
    memory = gather(own)
    return {"devices": gather(devices.of_torch(torch, options.device)),
            "median_step_s": statistics.median(seconds[half:]),
            "tokens_per_s": statistics.median(t / s for t, s in
                                              zip(tokens[half:], seconds[half:])),
            "without_reduction_s": max(gather(statistics.median(alone))),
            "allocated_bytes": [entry[0] for entry in memory],
            "reserved_bytes": [entry[1] for entry in memory],
            "last_loss": sum(gather(losses[-1])) / dist.get_world_size()}


def speed(setting, start, cut, multiple, options):
    """Tokens a second without reduction, which takes as long however far rows are filled up."""
    training = Training(setting, start, options)
    batches = make_batches(setting, cut, multiple, TRIED_STEPS, options)
    training.timed_steps(batches, TRIED_STEPS, reduces=False)
    seconds, tokens, _ = training.timed_steps(batches, TRIED_STEPS, reduces=False)
    return sum(tokens) / sum(slowest(seconds))


def attempt(what, setting, start, cut, multiple, options):
    """(what comes of it, what went wrong); what goes wrong on one rank goes wrong on all, as far as
    can be."""
    try:
        result, trouble = what(setting, start, cut, multiple, options), None
    except (RuntimeError, ValueError, TypeError) as error:
        result, trouble = None, f"{type(error).__name__}: {error}".splitlines()[0][:300]
    troubles = [entry for entry in gather(trouble) if entry]
    gc.collect()
    if options.device == "cuda":
        torch.cuda.empty_cache()
    return result, troubles[0] if troubles else None


def best_multiple(first, start, cut, options):
    speeds = {}
    for multiple in (1, 8):
        found, trouble = attempt(speed, first, start, cut, multiple, options)
        speeds[multiple] = 0 if trouble else found
    return gather(max(speeds, key=speeds.get))[0]


def read_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("settings")
    parser.add_argument("--model", required=True)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--longest", type=int, default=64)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--multiple", type=int, default=0, help="0: 1 or 8, whichever is faster")
    parser.add_argument("--out", help="where rank 0 writes the rows; else printed")
    return parser.parse_args()


def main():
    options = read_options()
    torch.set_float32_matmul_precision("highest")  # fp32 is fp32, as yoke's
    if options.device == "cuda":
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count())
    else:
        torch.set_num_threads(1)
    dist.init_process_group("nccl" if options.device == "cuda" else "gloo",
                            timeout=datetime.timedelta(seconds=90))
    say("pairs of sentences")
    pairs = read_pairs(options)
    cut = functools.cache(lambda tokens, multiple: cut_pieces(pairs, tokens, multiple, seed=1))
    torch.manual_seed(1)
    start = Translator(sizes_of(options.model))  # which all settings begin with
    lines = Path(options.settings).read_text(encoding="utf-8").splitlines()
    settings = [USUAL | json.loads(line) for line in lines if line.strip()]
    say("how far rows are filled up")
    multiple = options.multiple or best_multiple(settings[0], start, cut, options)
    with contextlib.ExitStack() as stack:
        out = sys.stdout
        if options.out and dist.get_rank() == 0:
            out = stack.enter_context(open(options.out, "w", encoding="utf-8"))
        for setting in settings:
            say(setting["name"])
            row, trouble = attempt(measure, setting, start, cut, multiple, options)
            row = {"name": setting["name"], **setting, "multiple": multiple,
                   **({"error": trouble} if trouble else row)}
            if dist.get_rank() == 0:
                print(json.dumps(row), file=out, flush=True)
    dist.barrier()
    sys.stdout.flush()
    os._exit(0)  # the workers that compile need not be waited for


if __name__ == "__main__":
    main()
