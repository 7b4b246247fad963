"""Writes what yoke and PyTorch both train: make_case.py MODEL SAMPLES SEQUENCE FOLDER

MODEL is gpt2, gpt2-xl or one of the tiny ones of SIZES, its vocabulary a multiple of 64, which makes its
products faster on both sides. FOLDER gets config.json, model.safetensors (random, fp32, the names
of Hugging Face; not with --no-weights) and tokens.bin, a shard as llm.c writes them from which so
many samples can be taken. Low tokens are likelier, so that there is something to learn.
"""
import argparse
import json
import os
import pathlib
import struct
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).parent.parent / "gpu"))
from make_data import random_tokens, write_shard  # noqa: E402

SIZES = {  # layers, heads, width, vocabulary, positions
    "gpt2": (12, 12, 768, 50304, 1024),
    "gpt2-medium": (24, 16, 1024, 50304, 1024),
    "gpt2-large": (36, 20, 1280, 50304, 1024),
    "gpt2-xl": (48, 25, 1600, 50304, 1024),
    "tiny": (3, 3, 48, 512, 128),
    "small": (6, 6, 384, 2048, 256),
}


def config_of(name):
    layers, heads, width, vocabulary, positions = SIZES[name]
    return {"model_type": "gpt2", "vocab_size": vocabulary, "n_positions": positions,
            "n_embd": width, "n_layer": layers, "n_head": heads, "n_inner": 4 * width,
            "tie_word_embeddings": True}


def tensors_of(config):
    """(name, shape, mean, spread), in the order of the file."""
    width, inner = config["n_embd"], config["n_inner"]
    yield "transformer.wte.weight", (config["vocab_size"], width), 0, 0.02
    yield "transformer.wpe.weight", (config["n_positions"], width), 0, 0.02
    linears = (("attn.c_attn", width, 3 * width), ("attn.c_proj", width, width),
               ("mlp.c_fc", width, inner), ("mlp.c_proj", inner, width))
    for layer in range(config["n_layer"]):
        prefix = f"transformer.h.{layer}"
        for norm in ("ln_1", "ln_2"):
            yield f"{prefix}.{norm}.weight", (width,), 1, 0
            yield f"{prefix}.{norm}.bias", (width,), 0, 0
        for name, columns, rows in linears:
            narrow = (2 * config["n_layer"]) ** -0.5 if name.endswith("c_proj") else 1
            yield f"{prefix}.{name}.weight", (columns, rows), 0, 0.02 * narrow
            yield f"{prefix}.{name}.bias", (rows,), 0, 0
    yield "transformer.ln_f.weight", (width,), 1, 0
    yield "transformer.ln_f.bias", (width,), 0, 0


def write_weights(path, config, seed=1):
    entries, offset = {}, 0
    for name, shape, _, _ in tensors_of(config):
        end = offset + 4 * int(np.prod(shape))
        entries[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, end]}
        offset = end
    header = json.dumps(entries | {"__metadata__": {"format": "pt"}}).encode()
    header += b" " * (-len(header) % 8)
    generator = np.random.default_rng(seed)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        for _, shape, mean, spread in tensors_of(config):
            numbers = np.full(shape, mean, np.float32)
            if spread:
                numbers = generator.standard_normal(shape, np.float32) * np.float32(spread)
            file.write(numbers.tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=SIZES)
    parser.add_argument("samples", type=int)
    parser.add_argument("sequence", type=int)
    parser.add_argument("folder")
    parser.add_argument("--no-weights", action="store_true")
    options = parser.parse_args()
    config = config_of(options.model)
    os.makedirs(options.folder, exist_ok=True)
    with open(f"{options.folder}/config.json", "w", encoding="utf-8") as file:
        json.dump(config, file)
    if not options.no_weights:
        write_weights(f"{options.folder}/model.safetensors", config)
    count = (options.samples + 4) * options.sequence
    write_shard(f"{options.folder}/tokens.bin", random_tokens(count, 0, config["vocab_size"]),
                config["vocab_size"])


if __name__ == "__main__":
    main()
