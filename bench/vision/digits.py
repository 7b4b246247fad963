"""A small ViT on scikit-learn's digits, by yoke and by PyTorch: accuracy on the same test images.

    digits.py [--seeds N] [--epochs N] [--batch N] [--rate NUMBER] [--only yoke|torch]

1,797 images of 8 x 8 grey pixels, of which 360 are kept to test with. Both sides train the same
model (yoke's vit-digits) by the same rule, from weights of the same distribution, in an order of
their own: AdamW, a rate that rises for a tenth of the steps and falls by a cosine to a tenth,
gradients clipped at a norm of 1, no augmentation, fp32.
"""
import argparse
import json
import math
import os
import statistics
import struct
import subprocess
import tempfile
import time

import numpy as np
import torch
from sklearn.datasets import load_digits
from transformers import ViTConfig, ViTForImageClassification

YOKE = os.environ.get("YOKE", "build/release/yoke")
MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/model/builtin/models.json")
TESTED = 360
DECAY = 0.1


def read_settings():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--only", choices=("yoke", "torch"))
    return parser.parse_args()


def draw_split():
    """((images, labels) to train with, the same to test with): bytes."""
    digits = load_digits()
    images = np.rint(digits.images * 255 / 16).astype(np.uint8)
    labels = digits.target.astype(np.uint8)
    order = np.random.default_rng(0).permutation(len(images))
    test, train = order[:TESTED], order[TESTED:]
    return (images[train], labels[train]), (images[test], labels[test])


def write_idx(path, array):
    with open(path, "wb") as file:
        file.write(struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape))
        file.write(array.tobytes())


def write_data(folder, train, test):
    for name, (images, labels) in (("train", train), ("t10k", test)):
        write_idx(f"{folder}/{name}-images-idx3-ubyte", images)
        write_idx(f"{folder}/{name}-labels-idx1-ubyte", labels)


def yoke(*words):
    done = subprocess.run([YOKE, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"yoke {' '.join(map(str, words))}\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def count_steps(settings, images):
    return math.ceil(settings.epochs * images / settings.batch)


def run_yoke(settings, data, steps, seed):
    """(accuracy, seconds)."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        yoke("train", "--model", "vit-digits", "--data", data, "--steps", steps, "--batch", settings.batch,
             "--rate", settings.rate, "--least-rate", settings.rate / 10, "--warmup", steps // 10, "--decay", DECAY,
             "--clip", 1, "--eval-part", "0%", "--seed", seed, "--device", "cpu", "--threads", 1,
             "--out", f"{folder}/run", "--quiet", "--json")
        seconds = time.perf_counter() - begin
        return yoke("eval", f"{folder}/run", "--data", data, "--json")["accuracy"], seconds


def make_model(seed):
    with open(MODELS, encoding="utf-8") as file:
        config = next(m["config"] for m in json.load(file) if m["name"] == "vit-digits")
    torch.manual_seed(seed)
    return ViTForImageClassification(ViTConfig(**{k: v for k, v in config.items() if k != "model_type"}))


def rate_at(step, steps, settings):
    warmup = steps // 10
    if step < warmup:
        return settings.rate * (step + 1) / (warmup + 1)
    part = (step - warmup) / (steps - warmup)
    return settings.rate / 10 + 0.5 * (1 + math.cos(math.pi * part)) * 0.9 * settings.rate


def to_tensors(images, labels):
    return torch.from_numpy(images).float()[:, None] / 127.5 - 1, torch.from_numpy(labels).long()


def run_torch(settings, train, test, steps, seed):
    model = make_model(seed)
    images, labels = to_tensors(*train)
    groups = [{"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": DECAY},
              {"params": [p for p in model.parameters() if p.dim() <= 1], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.95))
    begin, order = time.perf_counter(), torch.empty(0, dtype=torch.long)
    for step in range(steps):
        while len(order) < settings.batch:
            order = torch.cat([order, torch.randperm(len(images))])
        chosen, order = order[:settings.batch], order[settings.batch:]
        loss = torch.nn.functional.cross_entropy(model(pixel_values=images[chosen]).logits, labels[chosen])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = rate_at(step, steps, settings)
        optimizer.step()
    seconds = time.perf_counter() - begin
    tested, expected = to_tensors(*test)
    with torch.no_grad():
        found = model.eval()(pixel_values=tested).logits.argmax(1)
    return (found == expected).float().mean().item(), seconds


def say(who, accuracies, seconds):
    spread = statistics.stdev(accuracies) if len(accuracies) > 1 else 0.0
    print(f"  {who:6}  {100 * statistics.mean(accuracies):6.2f}  {100 * spread:6.2f}  "
          f"{100 * min(accuracies):6.2f}  {100 * max(accuracies):6.2f}  {statistics.median(seconds):8.1f}", flush=True)


def main():
    settings = read_settings()
    torch.set_num_threads(1)  # more only hinders so small a model
    train, test = draw_split()
    steps = count_steps(settings, len(train[0]))
    print(f"{len(train[0])} images to train with, {len(test[0])} to test with; {steps} steps of {settings.batch}; "
          f"{settings.seeds} seeds")
    print("  who     mean %  spread   least    most  seconds")
    with tempfile.TemporaryDirectory() as data:
        write_data(data, train, test)
        sides = {"torch": lambda seed: run_torch(settings, train, test, steps, seed),
                 "yoke": lambda seed: run_yoke(settings, data, steps, seed)}
        for who, side in sides.items():
            if settings.only in (None, who):
                results = [side(seed) for seed in range(1, settings.seeds + 1)]
                say(who, *zip(*results))


if __name__ == "__main__":
    main()
