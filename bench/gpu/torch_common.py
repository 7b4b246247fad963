"""What the PyTorch scripts share: options, the training step, its time and its memory.

A script builds a Training and calls serve(): after the model is ready it runs --rounds rounds of
--warmup and --steps steps and prints one JSON object a round. With --wait it first waits for a line
on standard input, so that the rounds of two programs can take turns.
"""
import argparse
import dataclasses
import json
import os
import statistics
import sys
import time
from dataclasses import dataclass
from typing import Callable

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from cases import CASES

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import devices  # noqa: E402, beside this folder

MODES = ("eager", "default", "max-autotune-no-cudagraphs", "reduce-overhead", "max-autotune")


@dataclass
class Training:
    loss_of: Callable  # of a batch's tensors
    parameters: list  # (name, parameter) of those that are trained
    batches: list  # tuples of tensors on the device, taken in turn
    tokens: list  # how many of each batch count
    autocast: bool  # fp32 parameters, products in bf16 (on a GPU)


def read_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--mode", default="default", choices=MODES)
    parser.add_argument("--compile", default="usual", choices=("usual", "whole", "blocks"),
                        help="the model in one piece, or each kind of block once")
    parser.add_argument("--attention", default="usual", choices=("usual", "cudnn", "flash"))
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--rate", type=float, default=3e-4)
    parser.add_argument("--clip", type=float, default=1.0, help="0: none")
    parser.add_argument("--masked-only", action="store_true",
                        help="BERT: logits of masked tokens alone")
    parser.add_argument("--batch", type=int, help="samples, in place of the case's")
    parser.add_argument("--weights", help="causal: a folder of Hugging Face's")
    parser.add_argument("--tries-s", type=float, default=80, help="causal: then no way is tried")
    parser.add_argument("--wait", action="store_true")
    parser.add_argument("--profile", action="store_true", help="print the kernels of a step")
    options = parser.parse_args()
    options.case = CASES[options.case]
    if options.batch:
        options.case = dataclasses.replace(options.case, batch=options.batch)
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    if options.device == "cpu":
        torch.set_num_threads(devices.cores())
    return options


def compile_model(model, blocks, options, usual, dynamic=None):
    """Compiles a model in one piece, or each of `blocks`, whose code PyTorch then shares."""
    if options.mode == "eager":
        return model
    way = usual if options.compile == "usual" else options.compile
    if way == "whole":
        return torch.compile(model, mode=options.mode, dynamic=dynamic)
    torch._dynamo.config.recompile_limit = 64
    for block in blocks:
        block.compile(mode=options.mode, dynamic=dynamic)
    return model


def make_optimizer(named, options):
    """Matrices and tables decay, vectors do not."""
    groups = [{"params": [p for _, p in named if p.dim() > 1], "weight_decay": 0.1},
              {"params": [p for _, p in named if p.dim() <= 1], "weight_decay": 0.0}]
    return torch.optim.AdamW([group for group in groups if group["params"]], lr=options.rate,
                             betas=(0.9, 0.95), eps=1e-8, fused=True)


def attention_of(options):
    """PyTorch's own order of kernels, or another first."""
    if options.attention == "usual" or options.device == "cpu":
        return None
    first = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}
    order = [first[options.attention], SDPBackend.FLASH_ATTENTION,
             SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
    return list(dict.fromkeys(order))


class Trainer:
    def __init__(self, training, options):
        self.training = training
        self.options = options
        self.parameters = [parameter for _, parameter in training.parameters]
        self.optimizer = make_optimizer(training.parameters, options)
        self.order = attention_of(options)
        self.taken = 0

    def next_batch(self):
        number = self.taken % len(self.training.batches)
        self.taken += 1
        return self.training.batches[number], self.training.tokens[number]

    def forward(self, batch):
        wanted = self.training.autocast and self.options.device == "cuda"
        with torch.autocast("cuda", torch.bfloat16, enabled=wanted):
            return self.training.loss_of(*batch)

    def step(self, batch):
        if self.order:
            with sdpa_kernel(self.order, set_priority=True):
                loss = self.forward(batch)
        else:
            loss = self.forward(batch)
        loss.backward()
        self.update()
        return loss.detach()

    def update(self):
        if self.options.clip > 0:
            nn.utils.clip_grad_norm_(self.parameters, self.options.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def timed_steps(self, count):
        """(seconds, tokens, losses) of steps; the GPU is not waited for between them."""
        on_gpu = self.options.device == "cuda"
        marks, tokens, losses = [mark(on_gpu)], [], []
        for _ in range(count):
            batch, present = self.next_batch()
            losses.append(self.step(batch))
            tokens.append(present)
            marks.append(mark(on_gpu))
        if on_gpu:
            torch.cuda.synchronize()
            seconds = [a.elapsed_time(b) / 1e3 for a, b in zip(marks, marks[1:])]
        else:
            seconds = [b - a for a, b in zip(marks, marks[1:])]
        return seconds, tokens, [float(loss) for loss in losses]

    def round(self):
        begin = time.perf_counter()
        self.timed_steps(self.options.warmup)
        warmup_s = time.perf_counter() - begin
        if self.options.device == "cuda":
            torch.cuda.reset_peak_memory_stats()  # what compiling took does not count
        seconds, tokens, losses = self.timed_steps(self.options.steps)
        result = {
            "warmup_s": warmup_s,
            "median_step_s": statistics.median(seconds),
            "tokens_per_s": statistics.median(t / s for t, s in zip(tokens, seconds)),
            "mean_tokens_per_s": sum(tokens) / sum(seconds),
            "last_loss": losses[-1],
            "device": devices.of_torch(torch, self.options.device),
        }
        if self.options.device == "cuda":
            result["allocated_bytes"] = torch.cuda.max_memory_allocated()
            result["reserved_bytes"] = torch.cuda.max_memory_reserved()
        return result


def mark(on_gpu):
    if not on_gpu:
        return time.perf_counter()
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


def print_profile(trainer):
    """Which kernels a step spends its time in."""
    trainer.timed_steps(trainer.options.warmup)
    activity = torch.profiler.ProfilerActivity
    kinds = [activity.CUDA] if trainer.options.device == "cuda" else [activity.CPU]
    with torch.profiler.profile(activities=kinds) as profile:
        trainer.timed_steps(1)
    order = "self_cuda_time_total" if trainer.options.device == "cuda" else "self_cpu_time_total"
    print(profile.key_averages().table(sort_by=order, row_limit=40, max_name_column_width=90))


def serve(training, options):
    serve_trainer(Trainer(training, options), options, {})


def serve_trainer(trainer, options, notes):
    """Each round's result gets the notes."""
    if options.profile:
        print_profile(trainer)
        return
    for _ in range(options.rounds):
        if options.wait and not sys.stdin.readline():
            break
        result = trainer.round() | notes
        if options.device == "cuda":
            torch.cuda.empty_cache()  # what others may need while this one waits
        print(json.dumps(result), flush=True)
    sys.stdout.flush()
    os._exit(0)  # the workers that compile need not be waited for
