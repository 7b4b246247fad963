"""Runs yoke train on a case and reads what it measured."""
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

from cases import config_of
from gpu_memory import Watch
from make_data import (BERT_SPECIAL, LONGEST, PAIR_SPECIAL, pair_lengths, shard_tokens,
                       write_images, write_shard, write_side, write_tokenizer, write_weights)

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import devices  # noqa: E402, beside this folder

YOKE = os.environ.get("YOKE", "build/release/yoke")
USUAL_PAIR = 32  # tokens, by which batches of pairs are planned
SCRATCH_BYTES = 40e9  # weights of Llama, and checkpoints
WITHOUT_EVALUATION = ["--eval-part", "0%", "--save-every", "0", "--keep", "0"]


class YokeError(Exception):
    pass


def scratch_place():
    """In memory where there is room, which spares the disk's time; else the usual place."""
    memory = "/dev/shm"
    roomy = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > SCRATCH_BYTES
    return memory if roomy else None


def lengths_of(case, steps):
    """The pairs of a case: enough that no batch comes twice."""
    return pair_lengths((steps + 2) * case.batch_tokens)


def prepare_tokens(case, folder, steps):
    path = f"{folder}/{case.name}.bin"
    write_shard(path, shard_tokens(case, steps), case.sizes["vocabulary"])
    options = ["--data", path, "--batch", case.batch, "--seq", case.sequence]
    if case.family == "bert":
        tokenizer = f"{folder}/{case.name}-tokenizer.json"
        write_tokenizer(tokenizer, BERT_SPECIAL, case.sizes["vocabulary"])
        options += ["--tokenizer", tokenizer]
    return options


def prepare_pairs(case, folder, steps):
    vocabulary = case.sizes["vocabulary"]
    pairs = lengths_of(case, steps)
    paths = [f"{folder}/{case.name}.{side}" for side in ("source", "target", "json")]
    write_side(paths[0], [source for source, _ in pairs], vocabulary, 2)
    write_side(paths[1], [target for _, target in pairs], vocabulary, 3)
    write_tokenizer(paths[2], PAIR_SPECIAL, vocabulary)
    return ["--data", paths[0], "--target", paths[1], "--tokenizer", paths[2],
            "--batch-tokens", case.batch_tokens, "--seq", USUAL_PAIR, "--longest", LONGEST,
            "--label-smoothing", 0.1]


def prepare_images(case, folder, steps):
    """A few batches of them, which come again; every class is there."""
    del steps
    path = f"{folder}/{case.name}-images"
    write_images(path, case, max(2 * case.batch, case.sizes["vocabulary"]))
    return ["--data", path, "--batch", case.batch]


def weights_folder(case, folder):
    return f"{folder}/weights-{case.torch_of or case.name}"


def prepare_model(case, folder):
    """Adapters need weights to be beside, which cases of one model share. Those of transformers
    begin alike on both sides."""
    if case.lora_rank or (case.of_transformers and case.torch_runs):
        weights = weights_folder(case, folder)
        if not os.path.exists(weights):
            write_weights(weights, case)
        adapters = ["--lora", case.lora_rank, "--lora-alpha", case.lora_alpha]
        return ["--weights", weights, *(adapters if case.lora_rank else [])]
    path = f"{folder}/{case.name}-config.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config_of(case), file)
    return ["--model", path, *(["--weights", "random"] if case.of_transformers else [])]


def prepare(case, folder, steps):
    """Writes what the case trains on, and returns the options that say so."""
    data = {"translation": prepare_pairs, "vit": prepare_images}.get(case.family, prepare_tokens)
    return prepare_model(case, folder) + data(case, folder, steps) + list(case.yoke_options)


def command(options, folder, steps, device, precision="bf16", rate=3e-4):
    words = [YOKE, "train", *options, "--precision", precision, "--steps", steps, "--rate", rate,
             "--rate-rule", "constant", "--warmup", 0, *WITHOUT_EVALUATION, "--out", folder,
             "--device", device, "--quiet", "--json"]
    if device == "cpu":
        words += ["--threads", devices.cores()]  # as many as PyTorch has
    return [str(word) for word in words]


def read_steps(folder):
    with open(f"{folder}/metrics.jsonl", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return [line for line in lines if "loss" in line]


def launch(words, folder, limit_s):
    """(what it printed, the Watch over it, seconds) of a command that trains into an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    with Watch() as watch:
        begin = time.perf_counter()
        try:
            process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       text=True)
        except FileNotFoundError as error:
            raise YokeError(f"there is no {words[0]}") from error
        watch.pid = process.pid
        try:
            printed, errors = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired as error:
            process.kill()
            process.communicate()
            raise YokeError(f"{words[0]} took more than {limit_s} s") from error
        seconds = time.perf_counter() - begin
    if process.returncode != 0:
        raise YokeError(f"{' '.join(words)}\nexit code {process.returncode}: {errors[-2000:]}")
    return printed, watch, seconds


def run(words, folder, limit_s):
    """(summary, steps, the Watch, seconds in all) of a run; its folder goes."""
    printed, watch, seconds = launch(words, folder, limit_s)
    steps = read_steps(folder)
    with open(f"{folder}/plan.json", encoding="utf-8") as file:
        recompute = any(layer["recompute"] for layer in json.load(file)["layers"])
    shutil.rmtree(folder)
    return json.loads(printed) | {"recompute": recompute}, steps, watch, seconds


def measure(case, options, folder, settings, precision="bf16"):
    """One round, in the words of the PyTorch scripts."""
    words = command(options, folder, settings.warmup + settings.steps, settings.device, precision)
    summary, steps, watch, seconds = run(words, folder, settings.limit)
    timed = steps[settings.warmup:]
    speeds = [step[case.unit + "s_per_s"] for step in timed]
    counts = [speed * step["seconds"] for speed, step in zip(speeds, timed)]
    return {
        "case": case.name,
        "run_s": seconds,
        "median_step_s": statistics.median(step["seconds"] for step in timed),
        "tokens_per_s": statistics.median(speeds),
        "mean_tokens_per_s": sum(counts) / sum(step["seconds"] for step in timed),
        "first_loss": steps[0]["loss"],
        "last_loss": steps[-1]["loss"],
        "device": devices.of_yoke(summary),
        "gpu_bytes": watch.bytes,
        "gpu_bytes_way": watch.way,
        "planned_bytes": summary["planned_bytes"],
        "device_bytes": summary.get("device_bytes"),
        "host_bytes": summary["peak_bytes"],
        "trained_numbers": summary["trainable"],
        "micro_batches": summary["micro_batches"],
        "recompute": summary["recompute"],
    }
