#!/usr/bin/env python3
"""Records what Accelerate's device_map="auto" gives, as the cases that tests/planner replays.

    python3 -m venv /tmp/oracle && /tmp/oracle/bin/pip install accelerate==1.15.0 transformers==5.22.2 torch==2.8.0
    /tmp/oracle/bin/python tests/oracle/accelerate_maps.py > tests/planner/auto_cases.inc
    /tmp/oracle/bin/python tests/oracle/accelerate_maps.py --modules > tests/model/modules_trees.inc

Models are built without memory, on the meta device. --count N makes about N cases a model and type,
--seed S others than the recorded ones.
A map is written in the model's order, since Accelerate's own order changes from run to run, and
neighbours such as model.layers.0 to 17 in one place are written as model.layers.0-17.
"""
import argparse
import logging
import random
import re
import sys
import warnings

import accelerate
import torch
import transformers
from accelerate import init_empty_weights
from accelerate.utils import CustomDtype, get_balanced_memory, infer_auto_device_map
from accelerate.utils.modeling import compute_module_sizes, find_tied_parameters


def gpt2(layers, heads, width, vocabulary=50257, positions=1024, tied=True):
    return "gpt2", dict(
        vocabulary=vocabulary, width=width, positions=positions, layers=layers, heads=heads, kv_heads=heads,
        head_size=width // heads, inner=4 * width, tied=tied, qkv_bias=True, out_bias=True, inner_bias=True)


def llama(layers, heads, kv_heads, width, inner, vocabulary=32000, positions=4096, head_size=0, tied=False,
          bias=False, inner_bias=False):
    return "llama", dict(
        vocabulary=vocabulary, width=width, positions=positions, layers=layers, heads=heads, kv_heads=kv_heads,
        head_size=head_size or width // heads, inner=inner, tied=tied, qkv_bias=bias, out_bias=bias, inner_bias=inner_bias)


def bert(layers, heads, width, pooler=True, masked_head=False, tied=True):
    return "bert", dict(
        vocabulary=30522, width=width, positions=512, token_types=2, layers=layers, heads=heads, kv_heads=heads,
        head_size=width // heads, inner=4 * width, tied=tied, qkv_bias=True, out_bias=True, inner_bias=True, pooler=pooler,
        masked_head=masked_head)


def marian(layers, encoder_layers, heads, width, inner, encoder_inner, vocabulary=37000, tied=True, shared=True):
    return "transformer", dict(
        vocabulary=vocabulary, width=width, positions=1024, layers=layers, encoder_layers=encoder_layers,
        heads=heads, kv_heads=heads, head_size=width // heads, encoder_heads=heads, inner=inner,
        encoder_inner=encoder_inner, tied=tied, shared=shared, qkv_bias=True, out_bias=True, inner_bias=True)


# The members of struct yk_model_config, by their names there.
MODELS = {
    "gpt2": gpt2(12, 12, 768),
    "gpt2-medium": gpt2(24, 16, 1024),
    "gpt2-large": gpt2(36, 20, 1280),
    "gpt2-xl": gpt2(48, 25, 1600),
    "gpt2-untied": gpt2(12, 12, 768, tied=False),
    "gpt-nano": gpt2(3, 3, 48, 65, 128, tied=False),
    "llama-tiny": llama(4, 4, 2, 64, 176, 320, 128),
    "llama-tiny-tied": llama(4, 4, 2, 64, 176, 320, 128, tied=True, bias=True),
    "llama-tiny-wide-heads": llama(3, 4, 4, 64, 176, 320, 128, head_size=32, bias=True, inner_bias=True),
    "tinyllama": llama(22, 32, 4, 2048, 5632, positions=2048),
    "llama3.2-1b": llama(16, 32, 8, 2048, 8192, 128256, 131072, tied=True),
    "llama3.2-3b": llama(28, 24, 8, 3072, 8192, 128256, 131072, tied=True),
    "llama2-7b": llama(32, 32, 32, 4096, 11008),
    "llama2-13b": llama(40, 40, 40, 5120, 13824),
    "llama3-8b": llama(32, 32, 8, 4096, 14336, 128256, 8192),
    "llama3-70b": llama(80, 64, 8, 8192, 28672, 128256, 8192),
    "bert-base": bert(12, 12, 768),
    "bert-large": bert(24, 16, 1024),
    "bert-base-mlm": bert(12, 12, 768, pooler=False, masked_head=True),
    "bert-tiny": bert(2, 4, 64),
    "bert-tiny-mlm": bert(2, 4, 64, pooler=False, masked_head=True),
    "bert-tiny-pretraining": bert(2, 4, 64, masked_head=True, tied=False),
    "marian-base": marian(6, 6, 8, 512, 2048, 2048),
    "marian-big": marian(6, 6, 16, 1024, 4096, 4096),
    "marian-tiny": marian(2, 1, 4, 64, 256, 192, 2000),
    "marian-untied": marian(3, 2, 8, 128, 512, 384, 2000, tied=False),
    "marian-unshared": marian(3, 2, 8, 128, 512, 384, 2000, shared=False),
}

TYPES = ("fp32", "bf16", "nf4")


def framework_config(kind, c):
    if kind == "gpt2":
        return transformers.GPT2Config(
            vocab_size=c["vocabulary"], n_positions=c["positions"], n_embd=c["width"], n_layer=c["layers"],
            n_head=c["heads"], n_inner=c["inner"], tie_word_embeddings=c["tied"])
    if kind == "llama":
        return transformers.LlamaConfig(
            vocab_size=c["vocabulary"], hidden_size=c["width"], max_position_embeddings=c["positions"],
            num_hidden_layers=c["layers"], num_attention_heads=c["heads"], num_key_value_heads=c["kv_heads"],
            head_dim=c["head_size"], intermediate_size=c["inner"], tie_word_embeddings=c["tied"],
            attention_bias=c["qkv_bias"], mlp_bias=c["inner_bias"])
    if kind == "bert":
        return transformers.BertConfig(
            vocab_size=c["vocabulary"], hidden_size=c["width"], max_position_embeddings=c["positions"],
            type_vocab_size=c["token_types"], num_hidden_layers=c["layers"], num_attention_heads=c["heads"],
            intermediate_size=c["inner"], tie_word_embeddings=c["tied"])
    return transformers.MarianConfig(
        vocab_size=c["vocabulary"], d_model=c["width"], max_position_embeddings=c["positions"],
        decoder_layers=c["layers"], encoder_layers=c["encoder_layers"], decoder_attention_heads=c["heads"],
        encoder_attention_heads=c["encoder_heads"], decoder_ffn_dim=c["inner"],
        encoder_ffn_dim=c["encoder_inner"], tie_word_embeddings=c["tied"],
        share_encoder_decoder_embeddings=c["shared"], pad_token_id=0, decoder_start_token_id=0, eos_token_id=1,
        forced_eos_token_id=1)


def build(kind, config):
    make = {
        "gpt2": transformers.GPT2LMHeadModel,
        "llama": transformers.LlamaForCausalLM,
        "bert": transformers.BertModel,
        "transformer": transformers.MarianMTModel,
    }[kind]
    if config.get("masked_head"):
        make = transformers.BertForPreTraining if config["pooler"] else transformers.BertForMaskedLM
    with init_empty_weights():
        model = make(framework_config(kind, config))
    model.tie_weights()
    return model


def type_arguments(model, name):
    """The dtype and special_dtypes of a load in that type. The bitsandbytes quantizer keeps tied
    weights, and the module of the last parameter, in 16 bit and takes all else for 4 bit."""
    if name != "nf4":
        return {"dtype": torch.float32 if name == "fp32" else torch.bfloat16}
    kept = [name for group in find_tied_parameters(model) for name in group]
    kept.append(list(model.named_parameters())[-1][0])
    kept = {name.removesuffix(".weight").removesuffix(".bias") for name in kept}
    special = {n: torch.bfloat16 for n, _ in model.named_parameters() if any(k in n for k in kept)}
    return {"dtype": CustomDtype.INT4, "special_dtypes": special}


def auto(model, types, memories, cpu):
    memory = dict(enumerate(memories))
    if cpu >= 0:
        memory["cpu"] = cpu
    whole = list(model._no_split_modules or [])
    memory = get_balanced_memory(model, max_memory=memory, no_split_module_classes=whole, **types)
    return infer_auto_device_map(model, max_memory=memory, no_split_module_classes=whole, **types)


def model_order(model):
    names = []
    for module, owner in model.named_modules():
        names.append(module)
        prefix = module + "." if module else ""
        names += [prefix + n for n, _ in owner.named_parameters(recurse=False, remove_duplicate=False)]
        names += [prefix + n for n, _ in owner.named_buffers(recurse=False, remove_duplicate=False)]
    return {name: i for i, name in enumerate(names)}


def compact(device_map, order):
    runs = []  # [prefix, first, last, place]; first is None for names that do not end in a number
    for name in sorted(device_map, key=order.__getitem__):
        place = device_map[name]
        match = re.fullmatch(r"(.*\.)(\d+)", name)
        prefix, number = (match[1], int(match[2])) if match else (name, None)
        last = runs[-1] if runs else None
        if last and number is not None and last[0] == prefix and last[2] == number - 1 and last[3] == place:
            last[2] = number
        else:
            runs.append([prefix, number, number, place])
    words = []
    for prefix, first, last, place in runs:
        span = "" if first is None else f"{first}" if first == last else f"{first}-{last}"
        words.append(f"{prefix}{span}={place}")
    return " ".join(words)


def memories_for(model, types, rng, count):
    """Memories from far too small to ample, equal and unequal, and some at the very edge of a fit."""
    sizes = compute_module_sizes(model, **types)
    total = int(sizes[""])
    pieces = sorted({int(size) for name, size in sizes.items() if name and size > 0})
    for _ in range(count):
        devices = rng.choice((1, 2, 2, 3, 3, 4))
        scale = total * rng.choice((0.05, 0.2, 0.5, 0.8, 1.0, 1.1, 1.3, 2.0, 4.0)) / devices
        style = rng.random()
        if style < 0.3:
            memories = [int(scale)] * devices
        elif style < 0.8:
            memories = [int(scale * rng.choice((0.1, 0.5, 0.8, 1, 1.2, 2, 3))) for _ in range(devices)]
        else:
            memories = [sum(rng.choice(pieces) for _ in range(rng.randint(1, 4))) + rng.choice((-1, 0, 1))
                        for _ in range(devices)]
        if rng.random() < 0.04:
            memories[rng.randrange(devices)] = 0
        cpu = rng.choice((-1, -1, int(total * rng.uniform(0.05, 1)), total * 4))
        yield [max(0, m) for m in memories], cpu


def print_origin():
    print("/* Made by tests/oracle/accelerate_maps.py with accelerate", accelerate.__version__ + ",")
    print(" * transformers", transformers.__version__, "and torch", torch.__version__ + ". */")


def print_models():
    print_origin()
    print("#ifdef MODEL")
    for name, (kind, config) in MODELS.items():
        members = ", ".join(f".{member} = {int(value)}" for member, value in config.items())
        print(f'MODEL("{name}", {kind}, {members})')
    print("#endif")


def print_cases(seed, count):
    print("#ifdef CASE")
    for name, (kind, config) in MODELS.items():
        model = build(kind, config)
        order = model_order(model)
        seen = set()
        failures = 0
        for loaded in TYPES:
            rng = random.Random(f"{seed}/{name}/{loaded}")
            types = type_arguments(model, loaded)
            for memories, cpu in memories_for(model, types, rng, count):
                if (loaded, tuple(memories), cpu) in seen:
                    continue
                seen.add((loaded, tuple(memories), cpu))
                try:
                    words = compact(auto(model, types, list(memories), cpu), order)
                except IndexError:  # Accelerate loses track of two groups of tied weights
                    failures += 1
                    continue
                # Four memories always: -1 says that there is no such device.
                listed = ", ".join(map(str, memories + [-1] * (4 - len(memories))))
                print(f'CASE("{name}", "{loaded}", {cpu}, {listed},\n     "{words}")')
        print(f"{name}: {len(seen)} cases, Accelerate fails on {failures} of them", file=sys.stderr)
    print("#endif")


def print_modules():
    """The trees of the small models, a line a module: its name, "!" if it may not be split, and its
    tensors as name:elements, name=elements for one tied to an earlier tensor, (name):elements for a
    buffer, with "i" behind the elements where they are integers."""
    print_origin()
    for name, (kind, config) in MODELS.items():
        if config["layers"] > 4:
            continue
        model = build(kind, config)
        first = {n for n, _ in model.named_parameters()}
        print(f'TREE("{name}",')
        for module, owner in model.named_modules():
            words = [module + ("!" if type(owner).__name__ in (model._no_split_modules or []) else "")]
            prefix = module + "." if module else ""
            for n, p in owner.named_parameters(recurse=False, remove_duplicate=False):
                words.append(f"{n}{':' if prefix + n in first else '='}{p.numel()}")
            for n, p in owner.named_buffers(recurse=False):
                words.append(f"({n}):{p.numel()}{'' if p.is_floating_point() else 'i'}")
            print(f'     "{" ".join(words)}\\n"')
        print(")")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--modules", action="store_true")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    if arguments.modules:
        print_modules()
    else:
        print_models()
        print_cases(arguments.seed, arguments.count)


main()
