#!/usr/bin/env python3
"""Records configs of BERT and Marian as transformers writes them, and what the models compute that it makes of
them: tests/model/config_cases.inc.

    python3 -m venv /tmp/oracle && /tmp/oracle/bin/pip install torch==2.8.0 transformers==5.22.2
    /tmp/oracle/bin/python tests/oracle/make_config_cases.py            # writes the file
    /tmp/oracle/bin/python tests/oracle/make_config_cases.py --check    # compares with what is there
    ... make_config_cases.py --read config.json ...                     # makes a model of each and describes it

Of each model: how many parameters are trained, the epsilon of its norms, the standard deviation weights start
with, its activation at -1, what embeddings of tokens are multiplied by, and the ids of tokens. `--read` is for
configs that yoke wrote.
"""
import argparse
import json
import pathlib
import re
import sys

import torch
import transformers
from transformers import BertConfig, MarianConfig

FILE = pathlib.Path(__file__).resolve().parent.parent / "model" / "config_cases.inc"

BERT = dict(vocab_size=40, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=20,
            max_position_embeddings=16)
MARIAN = dict(vocab_size=40, d_model=24, encoder_layers=1, decoder_layers=2, encoder_ffn_dim=20,
              decoder_ffn_dim=28, encoder_attention_heads=3, decoder_attention_heads=2,
              max_position_embeddings=16, pad_token_id=39, decoder_start_token_id=39)

CASES = {
    "bert of presets": ("BertForMaskedLM", BertConfig(**BERT)),
    "bert of its own ways": ("BertForMaskedLM", BertConfig(
        **BERT, hidden_act="gelu_new", layer_norm_eps=1e-6, initializer_range=0.05, type_vocab_size=5,
        tie_word_embeddings=False, pad_token_id=3, bos_token_id=4, eos_token_id=5)),
    "bert of both heads": ("BertForPreTraining", BertConfig(**BERT, hidden_act="relu", pad_token_id=None)),
    "bert without a head": ("BertModel", BertConfig(**BERT, hidden_act="silu")),
    "marian of presets": ("MarianMTModel", MarianConfig(**MARIAN)),
    "marian of opus-mt": ("MarianMTModel", MarianConfig(
        **MARIAN, activation_function="swish", scale_embedding=True, init_std=0.03, bos_token_id=0,
        eos_token_id=[0, 7], static_position_embeddings=True, normalize_before=False,
        normalize_embedding=False, add_final_layer_norm=False, num_beams=6)),
    "marian of two vocabularies": ("MarianMTModel", MarianConfig(
        **MARIAN, decoder_vocab_size=50, share_encoder_decoder_embeddings=False,
        activation_function="relu")),
    "marian without ties": ("MarianMTModel", MarianConfig(
        **MARIAN, tie_word_embeddings=False, activation_function="gelu_pytorch_tanh")),
}


def describe(class_name, config):
    """What the model computes, asked of its modules where they know."""
    torch.manual_seed(0)
    model = getattr(transformers, class_name)(config)
    norms = {module.eps for module in model.modules() if isinstance(module, torch.nn.LayerNorm)}
    scales = {module.embed_scale for module in model.modules() if hasattr(module, "embed_scale")} or {1.0}
    linears = [module.weight for module in model.modules() if isinstance(module, torch.nn.Linear)]
    drawn = torch.cat([weight.flatten() for weight in linears]).std().item()
    marian = isinstance(config, MarianConfig)
    spread = config.init_std if marian else config.initializer_range
    name = config.activation_function if marian else config.hidden_act
    activation = transformers.activations.ACT2FN[name](torch.tensor(-1.0, dtype=torch.float64)).item()
    assert len(norms) == 1 and len(scales) == 1, (norms, scales)
    assert abs(drawn / spread - 1) < 0.1, (drawn, spread)
    return {
        "parameters": sum(each.numel() for each in model.parameters() if each.requires_grad),
        "norm_epsilon": norms.pop(),
        "spread": spread,
        "activation": activation,
        "embedding_scale": scales.pop(),
    }


def first(value):
    value = value[0] if isinstance(value, list) else value
    return -1 if value is None else value


def id_facts(config):
    start = getattr(config, "decoder_start_token_id", None)
    return [first(each) for each in (config.pad_token_id, config.bos_token_id, config.eos_token_id, start)]


def c_string(text):
    return "\n".join('     "' + re.sub(r'(["\\])', r"\\\1", line) + '\\n"' for line in text.splitlines())


def record():
    lines = ["/* Made by tests/oracle/make_config_cases.py with transformers " + transformers.__version__ + ":",
             " * CASE(name, config.json, parameters, epsilon, spread, activation at -1, scale, ids) */"]
    for name, (class_name, config) in CASES.items():
        config.architectures = [class_name]
        facts = describe(class_name, config)
        text = json.loads(config.to_json_string(use_diff=False))
        kept = {key: value for key, value in text.items() if key not in NOISE}
        ids = ", ".join(str(each) for each in id_facts(config))
        lines += [f'CASE("{name}",', c_string(json.dumps(kept, indent=1, sort_keys=True)) + ",",
                  "     " + ", ".join(repr(value) for value in facts.values()) + ",",
                  "     {" + ids + "})"]
    return "\n".join(lines) + "\n"


# What every config says and none of the models here depends on.
NOISE = {"_name_or_path", "chunk_size_feed_forward", "id2label", "label2id", "output_attentions",
         "output_hidden_states", "problem_type", "return_dict", "transformers_version", "use_cache",
         "classifier_dropout", "is_decoder", "attention_dropout", "activation_dropout", "dropout",
         "encoder_layerdrop", "decoder_layerdrop", "hidden_dropout_prob", "attention_probs_dropout_prob"}


def read(path):
    config = transformers.AutoConfig.from_pretrained(path)
    class_name = config.architectures[0]
    print(path, class_name, describe(class_name, config), "ids", id_facts(config))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--read", nargs="+", metavar="CONFIG")
    options = parser.parse_args()
    if options.read:
        for path in options.read:
            read(path)
    elif options.check:
        sys.exit(0 if record() == FILE.read_text() else f"{FILE} differs")
    else:
        FILE.write_text(record())


if __name__ == "__main__":
    main()
