"""Trains a GPT with PyTorch on several ranks over gloo, one thread each, and prints how fast and in
how much memory: DistributedDataParallel, FullyShardedDataParallel or fully_shard, each as its
documentation says. The model and the optimizer are those of bench/training/torch_gpt.py.

    torchrun --nproc-per-node 2 torch_ranks.py WAY MODEL BATCH SEQUENCE STEPS TOKENS

WAY is ddp, fsdp (FULL_SHARD), fsdp-grad (SHARD_GRAD_OP), fsdp2 or fsdp2-kept (not resharded after
forward). BATCH is that of all ranks together; TOKENS a shard as llm.c writes them. Rank 0 prints
one JSON object: median_step_s (the slowest rank's; the first two steps are not counted), peak_bytes
(the largest rank's), last_loss (the mean of the last five steps over all ranks), device (a rank's).
"""
import array
import json
import pathlib
import resource
import statistics
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

sys.path.append(str(pathlib.Path(__file__).parent.parent))
sys.path.append(str(pathlib.Path(__file__).parent.parent / "training"))
import devices  # noqa: E402
from torch_gpt import GPT, MODELS, Block, make_optimizer  # noqa: E402

HEADER_BYTES = 1024
UNCOUNTED = 2


def wrap_ddp(model):
    from torch.nn.parallel import DistributedDataParallel

    return DistributedDataParallel(model, gradient_as_bucket_view=True)


def wrap_fsdp(model, strategy):
    from torch.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy
    from torch.distributed.fsdp.wrap import ModuleWrapPolicy

    return FullyShardedDataParallel(
        model,
        sharding_strategy=ShardingStrategy[strategy],
        auto_wrap_policy=ModuleWrapPolicy({Block}),
        use_orig_params=True,
        device_id=torch.device("cpu"),
    )


def wrap_fsdp2(model, reshard):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for block in model.blocks:
        fully_shard(block, mesh=mesh, reshard_after_forward=reshard)
    fully_shard(model, mesh=mesh, reshard_after_forward=reshard)
    return model


WAYS = {
    "ddp": wrap_ddp,
    "fsdp": lambda model: wrap_fsdp(model, "FULL_SHARD"),
    "fsdp-grad": lambda model: wrap_fsdp(model, "SHARD_GRAD_OP"),
    "fsdp2": lambda model: wrap_fsdp2(model, True),
    "fsdp2-kept": lambda model: wrap_fsdp2(model, False),
}


def clip(model, way):
    if way.startswith("fsdp") and not way.startswith("fsdp2"):
        model.clip_grad_norm_(1.0)
    else:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)


def read_tokens(path):
    tokens = array.array("H")
    tokens.frombytes(pathlib.Path(path).read_bytes()[HEADER_BYTES:])
    return torch.tensor(tokens, dtype=torch.long)


def largest(number):
    whole = torch.tensor([number], dtype=torch.float64)
    dist.all_reduce(whole, op=dist.ReduceOp.MAX)
    return whole.item()


def train(way, name, batch, sequence, steps, tokens):
    model = WAYS[way](GPT(*MODELS[name]))
    optimizer = make_optimizer(model.named_parameters())
    torch.manual_seed(2 + dist.get_rank())  # other samples on every rank
    seconds, losses = [], []
    for _ in range(steps + UNCOUNTED):
        firsts = torch.randint(0, len(tokens) - sequence, (batch,)).tolist()
        samples = torch.stack([tokens[i : i + sequence + 1] for i in firsts])
        begin = time.perf_counter()
        loss = model(samples[:, :-1], samples[:, 1:].contiguous())
        loss.backward()
        clip(model, way)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        seconds.append(time.perf_counter() - begin)
        losses.append(loss.item())
    return statistics.median(seconds[UNCOUNTED:]), statistics.mean(losses[-5:])


def main():
    way, name, (batch, sequence, steps) = sys.argv[1], sys.argv[2], map(int, sys.argv[3:6])
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    step_s, loss = train(way, name, batch // ranks, sequence, steps, read_tokens(sys.argv[6]))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    mean = torch.tensor([loss])
    dist.all_reduce(mean)
    result = {
        "median_step_s": largest(step_s),
        "peak_bytes": largest(peak),
        "last_loss": mean.item() / ranks,
        "device": devices.of_torch(torch, mean.device),
    }
    if rank == 0:
        print(json.dumps(result))
    dist.destroy_process_group()


main()
