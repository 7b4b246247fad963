"""Trains adapters of a Llama with PyTorch and with yoke from the same weights and adapters on the
same batches, and prints the losses of every step beside each other.

    losses.py [--layers N] [--steps N] [--seed N] [--device cuda|cpu]

The model has the shape of Llama 3 8B with fewer layers. PyTorch trains in fp32 as well: how far its
bf16 is from that is how far bf16 may be. The last column is yoke with its base in NF4.
"""
import argparse
import dataclasses
import gc
import json
import os
import sys
import tempfile

import torch
from safetensors.torch import save_file

from cases import CASES, config_of
from make_data import random_tokens, write_shard
from torch_common import Training, Trainer
from torch_llama import Llama, trained
from window_order import first_token
import yoke_side
from yoke_side import devices

RATE = 2e-3  # high, so that a few steps change something


def read_settings():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--limit", type=int, default=240)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def hugging_name(name):
    """blocks.3.mlp.up_proj.weight → model.layers.3.mlp.up_proj.weight, and so on."""
    outer = {"embed": "model.embed_tokens.weight", "head.weight": "lm_head.weight",
             "head.norm.weight": "model.norm.weight"}
    return outer.get(name) or name.replace("blocks.", "model.layers.", 1)


def adapter_name(name):
    return f"base_model.model.{hugging_name(name)}.weight"


def write_model(model, case, folder):
    weights, adapters = {}, {}
    for name, parameter in model.named_parameters():
        tensor = parameter.detach().cpu().contiguous()
        if "lora_" in name:
            adapters[adapter_name(name)] = tensor
        else:
            weights[hugging_name(name)] = tensor
    os.makedirs(f"{folder}/adapter")
    save_file(weights, f"{folder}/model.safetensors", metadata={"format": "pt"})
    save_file(adapters, f"{folder}/adapter/adapter_model.safetensors", metadata={"format": "pt"})
    modules = sorted({name.split(".")[-4] for name in adapters})
    with open(f"{folder}/config.json", "w", encoding="utf-8") as file:
        json.dump(config_of(case), file)
    with open(f"{folder}/adapter/adapter_config.json", "w", encoding="utf-8") as file:
        json.dump({"peft_type": "LORA", "r": case.lora_rank, "lora_alpha": case.lora_alpha,
                   "target_modules": modules, "base_model_name_or_path": folder}, file)


def make_batches(case, tokens, steps, device):
    """The samples of each step as yoke takes them."""
    length = case.sequence
    batches = []
    for step in range(steps):
        numbers = range(step * case.batch, (step + 1) * case.batch)
        starts = [first_token(number, len(tokens), length) for number in numbers]
        rows = torch.stack([torch.from_numpy(tokens[s:s + length + 1]) for s in starts]).to(device)
        batches.append((rows[:, :-1].contiguous(), rows[:, 1:].contiguous()))
    return batches


def torch_losses(model, batches, settings):
    options = argparse.Namespace(device=settings.device, rate=RATE, clip=1.0, attention="usual")
    training = Training(model, trained(model), batches, [1] * len(batches), autocast=False)
    return Trainer(training, options).timed_steps(len(batches))[2]


def make_model(case, device, seed):
    """Always the same numbers: those of bf16, so that both precisions begin alike."""
    torch.manual_seed(seed)
    with torch.device(device):
        return Llama(case, torch.bfloat16)


def yoke_losses(case, folder, settings, extra):
    options = ["--weights", folder, "--adapter", f"{folder}/adapter", "--data",
               f"{folder}/tokens.bin", "--batch", case.batch, "--seq", case.sequence, *extra]
    run = f"{folder}/run"
    words = yoke_side.command(options, run, settings.steps, settings.device, rate=RATE)
    summary, steps, _, _ = yoke_side.run(words, run, settings.limit)
    said = devices.check(devices.of_yoke(summary), devices.of_torch(torch, settings.device))
    return [step["loss"] for step in steps], said


def compare(case, settings, folder):
    count = (case.batch * settings.steps + 4) * case.sequence
    vocabulary = case.sizes["vocabulary"]
    tokens = random_tokens(count, 0, vocabulary)
    write_shard(f"{folder}/tokens.bin", tokens, vocabulary)
    batches = make_batches(case, tokens, settings.steps, settings.device)
    model = make_model(case, settings.device, settings.seed)
    write_model(model, case, folder)
    columns = {"torch bf16": torch_losses(model, batches, settings)}
    model = make_model(case, settings.device, settings.seed).float()
    columns["torch fp32"] = torch_losses(model, batches, settings)
    del model
    gc.collect()
    if settings.device == "cuda":
        torch.cuda.empty_cache()
    columns["yoke bf16"], said = yoke_losses(case, folder, settings, [])
    print(f"  {said}")
    columns["yoke nf4"], _ = yoke_losses(case, folder, settings, ["--nf4"])
    return columns


def print_columns(columns):
    names = list(columns)
    print("  step  " + "  ".join(f"{name:>10}" for name in names))
    for step, losses in enumerate(zip(*columns.values()), 1):
        print(f"  {step:4}  " + "  ".join(f"{loss:10.4f}" for loss in losses))
    exact = columns["torch fp32"]
    print("  largest difference from torch fp32:")
    for name in names:
        most = max(abs(a - b) for a, b in zip(columns[name], exact))
        print(f"    {name:10}  {most:.5f}")


def main():
    settings = read_settings()
    whole = CASES["llama-lora" if settings.device == "cuda" else "tiny-llama"]
    case = dataclasses.replace(whole, sizes=whole.sizes | {"layers": settings.layers})
    print(f"losses of adapters of rank {case.lora_rank} of a Llama of {settings.layers} layers of "
          f"width {case.sizes['width']}, {case.batch} x {case.sequence} tokens a step")
    with tempfile.TemporaryDirectory(dir=yoke_side.scratch_place()) as folder:
        try:
            columns = compare(case, settings, folder)
        except (yoke_side.YokeError, devices.Unlike) as error:
            sys.exit(str(error))
    print_columns(columns)


if __name__ == "__main__":
    main()
