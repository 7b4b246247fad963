"""Trains a GPT with PyTorch's data parallelism in many ways, one after the other in one launch, and
writes one line of JSON for each: how long a step takes, what every rank holds, the losses.

    RANK=… WORLD_SIZE=… MASTER_ADDR=… MASTER_PORT=… torch_dp.py --model FOLDER --data TOKENS \
        --out FILE SETTING…

FOLDER has a config.json and, unless weights may be random, a model.safetensors; TOKENS is a shard
as llm.c writes them, from which the samples that yoke train takes are taken. A SETTING is
NAME:WAY:SAMPLES[:ACCUMULATE[:COMPILE[:STEPS]]], as in weighted:ddp:34/7/7:1:blocks

    WAY         alone (one rank), ddp, ddp-bf16 (gradients sent in bf16), fsdp2, fsdp2-kept (not
                resharded after forward), fsdp2-kept-recomputed (blocks checkpointed, too)
    SAMPLES     of each rank in a step; a rank with 0 is left out
    ACCUMULATE  micro-batches of a step, none of which but the last exchanges gradients
    COMPILE     eager, blocks (each block and the loss compiled), whole
    STEPS       of which the second half counts; else those of --steps

Losses are weighted by samples, so that the gradient is that of the whole batch. A setting that
fails is one line with "error". A launch that ended early goes on with the next setting when it is
started again with the same FILE. Standard error tells when each began.
"""
from progress import say  # first, since its clock begins

import argparse
import datetime
import gc
import json
import os
import pathlib
import resource
import statistics
import sys
import time
import traceback
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import torch
import torch.distributed as dist
from torch import nn

import torch_models

sys.path.append(str(pathlib.Path(__file__).parent.parent))
sys.path.append(str(pathlib.Path(__file__).parent.parent / "gpu"))
import devices  # noqa: E402
from window_order import first_token  # noqa: E402

HEADER_BYTES = 1024
WAYS = ("alone", "ddp", "ddp-bf16", "fsdp2", "fsdp2-kept", "fsdp2-kept-recomputed")
EXCHANGE_LIMIT = datetime.timedelta(seconds=120)  # compiling is waited for in exchanges


@dataclass
class Setting:
    name: str
    way: str
    samples: list  # of each rank in a step
    accumulate: int = 1
    compile: str = "eager"
    steps: int = 0  # 0: as many as usual

    @staticmethod
    def read(text):
        words = text.split(":")
        if not 3 <= len(words) <= 6 or words[1] not in WAYS:
            sys.exit(f"torch_dp: {text} is no setting, as --help shows them")
        samples = [int(word) for word in words[2].split("/")]
        setting = Setting(words[0], words[1], samples, *map(int, words[3:4]), *words[4:5],
                          *map(int, words[5:6]))
        if any(count % setting.accumulate for count in samples):
            sys.exit(f"torch_dp: {text}: samples that {setting.accumulate} does not divide")
        return setting

    def members(self):
        return [rank for rank, count in enumerate(self.samples) if count]


def read_options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("settings", nargs="+", metavar="SETTING")
    parser.add_argument("--model", required=True, metavar="FOLDER")
    parser.add_argument("--data", required=True, metavar="TOKENS")
    parser.add_argument("--out", required=True, metavar="FILE")
    parser.add_argument("--seq", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--rate", type=float, default=3e-4)
    parser.add_argument("--clip", type=float, default=1.0)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--precision", default="bf16", choices=("bf16", "fp32"))
    parser.add_argument("--label", default="", help="goes into every line")
    options = parser.parse_args()
    options.settings = [Setting.read(text) for text in options.settings]
    for setting in options.settings:
        setting.steps = setting.steps or options.steps
    return options


class World:
    """All ranks, with a second way to talk that does not need the GPU."""

    def __init__(self, options):
        on_gpu = options.device == "cuda"
        if on_gpu:
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)) % torch.cuda.device_count())
        if "NCCL_SOCKET_IFNAME" in os.environ:
            os.environ.setdefault("GLOO_SOCKET_IFNAME", os.environ["NCCL_SOCKET_IFNAME"])
        self.device = (torch.device("cuda", torch.cuda.current_device()) if on_gpu
                       else torch.device("cpu"))
        dist.init_process_group("nccl" if on_gpu else "gloo", timeout=EXCHANGE_LIMIT,
                                **({"device_id": self.device} if on_gpu else {}))
        self.rank, self.ranks = dist.get_rank(), dist.get_world_size()
        self.words = dist.new_group(backend="gloo", timeout=datetime.timedelta(seconds=300))
        self.groups = {}

    def group(self, members):
        """Made by all ranks in the same order."""
        if len(members) == self.ranks:
            return dist.group.WORLD
        if tuple(members) not in self.groups:
            self.groups[tuple(members)] = dist.new_group(members, timeout=EXCHANGE_LIMIT)
        return self.groups[tuple(members)]

    def all(self, thing):
        """What every rank says, on every rank."""
        things = [None] * self.ranks
        dist.all_gather_object(things, thing, group=self.words)
        return things

    def free(self):
        gc.collect()
        if self.device.type == "cuda":
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()


def wrap(model, setting, world, options):
    """The model as a way of PyTorch's runs it, its parameters filled."""
    group = world.group(setting.members())
    if world.rank not in setting.members():
        return None
    if setting.compile == "blocks":
        torch_models.compile_pieces(model)
    if not setting.way.startswith("fsdp2"):
        model = model.to_empty(device=world.device)
        torch_models.fill(model, options.model)
        model.half_way = nullcontext
        if setting.compile == "whole":
            model.compile(dynamic=False)
        return model if setting.way == "alone" else wrap_ddp(model, setting, group)
    return wrap_fsdp2(model, setting, world, options, group)


def wrap_ddp(model, setting, group):
    from torch.nn.parallel import DistributedDataParallel

    wrapped = DistributedDataParallel(model, process_group=group, gradient_as_bucket_view=True)
    if setting.way == "ddp-bf16":
        from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_hook

        wrapped.register_comm_hook(group, bf16_compress_hook)
    wrapped.half_way = wrapped.no_sync
    return wrapped


def wrap_fsdp2(model, setting, world, options, group):
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    mesh = DeviceMesh.from_group(group, world.device.type)
    kept = setting.way.startswith("fsdp2-kept")
    how = {"mesh": mesh, "reshard_after_forward": not kept}
    if options.precision == "bf16":
        how["mp_policy"] = MixedPrecisionPolicy(torch.bfloat16, torch.bfloat16)
    for block in model.blocks:
        block.recompute = setting.way.endswith("recomputed")
        fully_shard(block, **how)
    fully_shard(model, **how)
    model = model.to_empty(device=world.device)
    members = setting.members()
    torch_models.fill(model, options.model, members.index(world.rank), len(members))

    class Without:
        def __enter__(self):
            model.set_requires_gradient_sync(False)

        def __exit__(self, *_):
            model.set_requires_gradient_sync(True)

    model.half_way = Without
    return model


def make_optimizer(model, options, device):
    """Matrices and tables decay, vectors do not."""
    parameters = list(model.parameters())
    groups = [{"params": [p for p in parameters if p.dim() > 1], "weight_decay": 0.1},
              {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=options.rate, betas=(0.9, 0.95), eps=1e-8,
                             fused=device.type == "cuda")


class Samples:
    """The windows that yoke train takes, those of one rank."""

    def __init__(self, options):
        self.tokens = np.memmap(options.data, np.uint16, "r", offset=HEADER_BYTES)
        self.length = options.seq

    def of_step(self, step, setting, rank, device):
        """One pair of (B, T) for every micro-batch."""
        begin = step * sum(setting.samples) + sum(setting.samples[:rank])
        starts = [first_token(begin + number, len(self.tokens), self.length)
                  for number in range(setting.samples[rank])]
        rows = np.stack([self.tokens[s:s + self.length + 1] for s in starts]).astype(np.int64)
        parts = torch.from_numpy(rows).to(device).chunk(setting.accumulate)
        return [(part[:, :-1].contiguous(), part[:, 1:].contiguous()) for part in parts]


class Trainer:
    def __init__(self, model, setting, world, options):
        self.model, self.setting, self.world, self.options = model, setting, world, options
        self.optimizer = make_optimizer(model, options, world.device)
        self.autocast = options.precision == "bf16" and not setting.way.startswith("fsdp2")
        # The mean of a micro-batch counts by its samples; DDP and FSDP2 divide by their ranks.
        here = setting.samples[world.rank] / setting.accumulate
        self.weight = here * len(setting.members()) / sum(setting.samples)

    def part(self, batch):
        with torch.autocast(self.world.device.type, torch.bfloat16, enabled=self.autocast):
            loss = self.model(*batch) * self.weight
        loss.backward()
        return loss.detach()

    def try_alone(self, batches):
        """Compiles and takes the memory of a step, without the other ranks."""
        if self.setting.way.startswith("fsdp2"):
            return
        with self.model.half_way():
            self.part(batches[0])
        self.optimizer.zero_grad(set_to_none=True)

    def step(self, batches):
        loss = 0
        with self.model.half_way() if len(batches) > 1 else nullcontext():
            for batch in batches[:-1]:
                loss = loss + self.part(batch)
        loss = loss + self.part(batches[-1])
        if self.options.clip > 0:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.options.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss / len(self.setting.members())  # this rank's part of the whole mean

    def steps(self, samples):
        on_gpu = self.world.device.type == "cuda"
        losses, marks = [], [mark(on_gpu)]
        for step in samples:
            losses.append(self.step(step))
            marks.append(mark(on_gpu))
        if on_gpu:
            torch.cuda.synchronize()
            seconds = [a.elapsed_time(b) / 1e3 for a, b in zip(marks, marks[1:])]
        else:
            seconds = [b - a for a, b in zip(marks, marks[1:])]
        return seconds, [float(loss) for loss in losses]


def mark(on_gpu):
    if not on_gpu:
        return time.perf_counter()
    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


def memory(device):
    if device.type == "cuda":
        return {"allocated": torch.cuda.max_memory_allocated(),
                "reserved": torch.cuda.max_memory_reserved()}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"allocated": peak, "reserved": peak}


def prepare(setting, world, options):
    """The trainer and its samples on this rank; a rank left out has none."""
    with torch.device("meta"):
        model = torch_models.GPT(torch_models.read_sizes(options.model))
    model = wrap(model, setting, world, options)
    if model is None:
        return None, []
    source = Samples(options)
    samples = [source.of_step(step, setting, world.rank, world.device)
               for step in range(setting.steps)]
    return Trainer(model, setting, world, options), samples


def guarded(world, what):
    """(what came of it, what went wrong on any rank): all ranks go on or none."""
    result, trouble = None, None
    try:
        result = what()
    except Exception as error:  # out of memory, and whatever else a setting may bring
        lines = traceback.format_exception_only(type(error), error)
        trouble = f"rank {world.rank}: {lines[-1].strip()[:300]}"
        if os.environ.get("TORCH_DP_TRACE"):
            traceback.print_exc()
    return result, next((word for word in world.all(trouble) if word), None)


def measure(setting, world, options):
    begin = time.perf_counter()
    world.free()
    prepared, trouble = guarded(world, lambda: prepare(setting, world, options))
    if trouble:
        return {"error": trouble}
    trainer, samples = prepared
    if trainer:
        _, trouble = guarded(world, lambda: trainer.try_alone(samples[0]))
    else:
        _, trouble = guarded(world, lambda: None)
    if trouble:
        return {"error": trouble}
    ready_s = time.perf_counter() - begin
    measured, trouble = guarded(world, lambda: trainer.steps(samples) if trainer else None)
    if trouble:
        return {"error": trouble}
    seconds, losses = measured or ([0.0] * setting.steps, [0.0] * setting.steps)
    held = memory(world.device) if trainer else {"allocated": 0, "reserved": 0}
    whole = world.all((seconds, losses, held))
    half = setting.steps // 2
    slowest = [max(rank[0][step] for rank in whole) for step in range(setting.steps)]
    return {
        "devices": world.all(devices.of_torch(torch, world.device)),
        "median_step_s": statistics.median(slowest[half:]),
        "least_step_s": min(slowest[half:]),
        "ready_s": ready_s,
        "losses": [sum(rank[1][step] for rank in whole) for step in range(setting.steps)],
        "allocated_bytes": [rank[2]["allocated"] for rank in whole],
        "reserved_bytes": [rank[2]["reserved"] for rank in whole],
    }


def settings_left(options, world):
    """Those that no line tells of yet; one that was begun and never ended has failed."""
    lines = []
    if world.rank == 0 and os.path.exists(options.out):
        with open(options.out, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
    lines = world.all(lines)[0]
    ended = {line["name"] for line in lines if "begun" not in line}
    begun = {line["name"] for line in lines if "begun" in line} - ended
    for setting in options.settings:
        if setting.name in begun:
            write(options, world, setting, {"error": "did not end"})
    return [s for s in options.settings if s.name not in ended | begun]


def write(options, world, setting, more):
    if world.rank != 0:
        return
    line = {"name": setting.name, "label": options.label, "way": setting.way,
            "samples": setting.samples, "accumulate": setting.accumulate,
            "compile": setting.compile} | more
    with open(options.out, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def main():
    options = read_options()
    torch.set_float32_matmul_precision("high")
    torch._dynamo.config.recompile_limit = 64
    if options.device == "cpu":
        torch.set_num_threads(1)
    world = World(options)
    for setting in settings_left(options, world):
        if len(setting.samples) != world.ranks:
            write(options, world, setting, {"error": f"is for {len(setting.samples)} ranks"})
            continue
        say(setting.name)
        write(options, world, setting, {"begun": True})
        write(options, world, setting, measure(setting, world, options))
        world.free()
    sys.stdout.flush()
    os._exit(0)  # neither the workers that compile nor the groups need be waited for


if __name__ == "__main__":
    main()
