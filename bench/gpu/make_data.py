"""Writes what both sides train on: token shards, sentence pairs, tokenizers, weights.

Tokens are random, low ones likelier, so that there is something to learn.
"""
import json
import os
import struct

import numpy as np

from cases import config_of
from counts import llama_linears

NARROW_VOCABULARY = 65536
LONGEST = 128  # tokens of a sentence
BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PAIR_SPECIAL = ["<pad>", "<s>", "</s>", "<unk>"]


def random_tokens(count, first, vocabulary, seed=1):
    """int64 in first … vocabulary - 1."""
    skewed = np.random.default_rng(seed).random(count) ** 3
    return first + ((vocabulary - first) * skewed).astype(np.int64)


def shard_tokens(case, steps):
    """Enough for so many steps; BERT's begin after its special ones."""
    first = len(BERT_SPECIAL) if case.family == "bert" else 0
    count = (case.batch * steps + 4) * case.sequence
    return random_tokens(count, first, case.sizes["vocabulary"])


def write_shard(path, tokens, vocabulary):
    """As llm.c writes them: 256 int32, then uint16, or uint32 for large vocabularies."""
    wide = vocabulary > NARROW_VOCABULARY
    header = np.zeros(256, np.int32)
    header[:3] = [20240801 if wide else 20240520, 7 if wide else 1, len(tokens)]
    with open(path, "wb") as file:
        file.write(header.tobytes())
        file.write(tokens.astype(np.uint32 if wide else np.uint16).tobytes())


def write_idx(path, array):
    """As MNIST is written: bytes, with the sizes before them."""
    with open(path, "wb") as file:
        file.write(struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape))
        file.write(array.tobytes())


def random_images(case, count, seed=1):
    """(count, height, width, 3) bytes, and labels that come one after the other."""
    side = case.config["image_size"]
    pixels = np.random.default_rng(seed).integers(0, 256, (count, side, side, 3), np.uint8)
    return pixels, (np.arange(count) % case.sizes["vocabulary"]).astype(np.uint8)


def write_images(folder, case, count):
    os.makedirs(folder, exist_ok=True)
    pixels, labels = random_images(case, count)
    write_idx(f"{folder}/train-images-idx4-ubyte", pixels)
    write_idx(f"{folder}/train-labels-idx1-ubyte", labels)


def word(number):
    return f"w{number}"


def write_tokenizer(path, special, vocabulary):
    """WordPiece in which every token but the special ones is a word of its own."""
    names = special + [word(number) for number in range(len(special), vocabulary)]
    unknown = next(name for name in special if "unk" in name.lower())
    tokenizer = {
        "version": "1.0",
        "added_tokens": [{"id": number, "content": name, "special": True, "single_word": False,
                          "lstrip": False, "rstrip": False, "normalized": False}
                         for number, name in enumerate(special)],
        "normalizer": None,
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": unknown, "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100,
                  "vocab": {name: number for number, name in enumerate(names)}},
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(tokenizer, file)


def pair_lengths(tokens, seed=1):
    """(S, T) of pairs of about `tokens` a side, their ends counted: most of 10 to 60 tokens, like
    sentences of newspapers."""
    generator = np.random.default_rng(seed)
    pairs, taken = [], 0
    while taken < tokens:
        source = int(np.clip(generator.lognormal(3.2, 0.6), 2, LONGEST))
        target = int(np.clip(round(source * generator.normal(1.0, 0.15)), 2, LONGEST))
        pairs.append((source, target))
        taken += source
    return pairs


def write_side(path, lengths, vocabulary, seed):
    """Sentences of so many tokens, an end counted that is not written down."""
    tokens = iter(random_tokens(sum(lengths), len(PAIR_SPECIAL), vocabulary, seed))
    with open(path, "w", encoding="utf-8") as file:
        for length in lengths:
            file.write(" ".join(word(next(tokens)) for _ in range(length - 1)) + "\n")


def llama_tensors(sizes):
    """The names and shapes of Hugging Face, in their order."""
    width, table = sizes["width"], (sizes["vocabulary"], sizes["width"])
    yield "model.embed_tokens.weight", table
    for layer in range(sizes["layers"]):
        prefix = f"model.layers.{layer}"
        yield f"{prefix}.input_layernorm.weight", (width,)
        for name, (columns, rows) in llama_linears(sizes).items():
            part = "self_attn" if name[0] in "qkvo" else "mlp"
            yield f"{prefix}.{part}.{name}.weight", (rows, columns)
        yield f"{prefix}.post_attention_layernorm.weight", (width,)
    yield "model.norm.weight", (width,)
    yield "lm_head.weight", table


def transformers_tensors(case):
    """The same of any model that transformers knows; a shared table comes once."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageClassification
    kind = AutoModelForImageClassification if case.family == "vit" else AutoModelForCausalLM
    with torch.device("meta"):
        model = kind.from_config(AutoConfig.for_model(**case.config))
    return [(name, tuple(parameter.shape)) for name, parameter in model.named_parameters()]


def tensors_of(case):
    if case.of_transformers:
        return transformers_tensors(case)
    return list(llama_tensors(case.sizes))


def bfloat16_bytes(numbers):
    """The upper half of fp32: rounded down, which random numbers do not mind."""
    return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes()


def vector_value(name, case):
    """Norms begin at a scale of 1, which Gemma's are at 0; biases at 0."""
    adds_one = case.config.get("model_type", "").startswith("gemma")
    return 0.0 if name.endswith("bias") or adds_one else 1.0


def write_weights(folder, case, seed=1):
    """Random bf16 weights. Drawing billions of numbers would take minutes: one pool of them comes
    again and again, of a length that no matrix divides."""
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/config.json", "w", encoding="utf-8") as file:
        json.dump(config_of(case) | {"torch_dtype": "bfloat16"}, file)
    tensors, entries, offset = tensors_of(case), {}, 0
    for name, shape in tensors:
        size = 2 * int(np.prod(shape))
        entries[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    header = json.dumps(entries).encode()
    header += b" " * (-len(header) % 8)
    generator = np.random.default_rng(seed)
    pool = memoryview(bfloat16_bytes(generator.normal(0, 0.02, 16000057)))
    with open(f"{folder}/model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        place = 0
        for name, shape in tensors:
            left = 2 * int(np.prod(shape))
            if len(shape) == 1:
                file.write(bfloat16_bytes(np.full(shape, vector_value(name, case))))
                continue
            while left > 0:
                piece = pool[place:place + left]
                file.write(piece)
                left -= len(piece)
                place = (place + len(piece)) % len(pool)
