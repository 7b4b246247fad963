#!/usr/bin/env python3
"""Trains tiny models with PyTorch, transformers and PEFT and records how, as the cases that the tests
of nn and train replay.

    python3 -m venv /tmp/oracle && /tmp/oracle/bin/pip install torch==2.8.0 transformers==5.22.2 peft==0.21.2
    /tmp/oracle/bin/python tests/oracle/make_training_fixtures.py            # writes tests/nn/fixtures
    /tmp/oracle/bin/python tests/oracle/make_training_fixtures.py --check    # compares with what is there
    ... make_training_fixtures.py gpt-tied llama-nf4                         # only these cases
    ... make_training_fixtures.py --extend gpt-bf16                          # keeps the run that is there

CASE.json holds a model's config.json under "config" and how it is trained under "settings"; CASE.safetensors
holds fp32 numbers unless said otherwise:

    weights.NAME     initial parameters; tied ones once; adapters by the names PEFT saves them under
    tokens, targets  (steps, B, T) int32; a target is the token to predict there, -1 where there is no loss
    pixels           (steps, B, channels, height, width) uint8 of a model of images, which sees x / 127.5 - 1; it has
                     no tokens, and targets (steps, B, 1) are classes
    lengths          (steps, B) int32 where sequences are filled up: how many tokens count
    target_tokens    (steps, B, S) int32 of an encoder-decoder: what the decoder reads; targets are (steps, B, S)
    logits           (B, T, V) of step 0; (B, S, V) of an encoder-decoder; (B, V) of a model of images
    gradients.NAME   of step 0, before clipping, of every parameter that is trained
    losses           (steps) before the update of each step
    norms            (steps) of all gradients together, before clipping
    rates            (steps)
    final.NAME       every trained parameter after the last step; of bf16 the fp32 master
    exact.*          of bf16: logits, gradients.NAME, losses and norms in fp64, rounded to fp32
    nf4.NAME.*       what a quantised weight was (original) and became: codes and scales (uint8),
                     scale_scales, mean; weights.NAME is what they stand for

Rules:
 - the loss of a step is the mean over all its tokens that bear loss; with accumulation A, micro-batch m is
   the m-th A-th of the rows, and the gradients of all micro-batches are of that same mean;
 - keys beyond a sequence's length are masked; the decoder's own need not be, for they come last;
 - label smoothing s: 1 - s for the label and s / V for every token, the label too;
 - parameters with two or more dimensions decay, the others do not;
 - the rate of step s = 0, 1 ... is that of update s:
     constant      maximum
     cosine        s < warmup: maximum (s + 1) / (warmup + 1), else
                   minimum + (1 + cos(pi (s - warmup) / (steps - warmup))) / 2 (maximum - minimum)
     inverse-root  maximum min((s + 1) / warmup, sqrt(warmup / (s + 1)))
 - clip: gradients are multiplied by min(1, clip / (norm + 1e-6)); 0 is no clipping;
 - AdamW and SGD are torch.optim's;
 - lora: y = x W' + (alpha / rank) x A' B', no dropout, all else frozen but the head of a model of images, which PEFT
   saves with the adapters ("modules_to_save");
 - bf16: weights, activations and gradients are bf16, the optimizer works on fp32 masters, which start as
   weights.NAME; after each update weights are the rounded masters;
 - exact: trained in fp64 from the same masters, which are the weights too. That bf16 rounds its weights is so part
   of its distance, as it is of what a user of bf16 gets.

Softmax does not see what is added to all of its inputs: the gradients of biases of keys are 0 but for rounding, and
are left out of "spread". Parameters that get no gradient at all are frozen. transformers keeps the embedding of the
padding token from its gradient; no case has such a token where a gradient would come from.

Every case is trained in fp64 too; "spread" in its JSON is the largest difference between the two, relative to
the largest number: of losses, of norms, and over the tensors of gradients and of final. A spread above SPREAD fails:
such a case would be chaotic and say nothing. Each thing that a config asks for and that is not in every model (a
window, a scaling of positions, a multiplier ...) is taken away in turn, and must have changed the first logits.

Every case in fp32 is trained by the rules of bf16 as well, and by the same rules in fp16, of which the loss is
multiplied by 1024 and the gradients divided by as much. "spread16" is how far both are from fp64, as
apart_in_norm() measures; of gradients the tensor that is farthest off. Over 20 steps rounding grows, in some cases
at random to five times what it is in others, so it is the most of RUNS16 runs. All but the first start from weights
that are off by up to a fourth of what rounding them to 16 bits changes: other numbers are then rounded elsewhere.
"""
import argparse
import copy
import json
import math
import pathlib
import tempfile
import zlib

import numpy as np
import peft
import torch
import transformers
from safetensors.numpy import load_file, save_file

import nf4

STEPS = 20
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "nn" / "fixtures"
# About half of what README.md calls near enough, or less.
SPREAD = {"fp32": dict(logits=2e-6, losses=2e-6, norms=1e-5, gradients=5e-6, final=3e-5),
          "bf16": dict(logits=2.5e-2, losses=1e-2, norms=2e-2, gradients=3e-2)}

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
# As tests/support/training/model_oracle.c has it.
FP16_LOSS_SCALE = 1024.0
RUNS16 = 12

RATE_RULES = {
    "constant": "maximum",
    "cosine": "s < warmup: maximum * (s + 1) / (warmup + 1); else minimum + 0.5 * (1 + cos(pi * (s - warmup)"
              " / (steps - warmup))) * (maximum - minimum)",
    "inverse-root": "maximum * min((s + 1) / warmup, sqrt(warmup / (s + 1)))",
}


def gpt2(width=16, heads=2, vocabulary=29, tied=True, positions=12, **more):
    config = dict(
        architectures=["GPT2LMHeadModel"], model_type="gpt2", vocab_size=vocabulary, n_positions=positions,
        n_embd=width, n_layer=2, n_head=heads, activation_function="gelu_new", layer_norm_epsilon=1e-5,
        embd_pdrop=0.0, attn_pdrop=0.0, resid_pdrop=0.0, tie_word_embeddings=tied, bos_token_id=0,
        eos_token_id=0)
    return config | more


def llama(width=24, heads=4, kv_heads=2, inner=40, vocabulary=31, tied=False, positions=32, **more):
    config = dict(
        architectures=["LlamaForCausalLM"], model_type="llama", vocab_size=vocabulary, hidden_size=width,
        intermediate_size=inner, num_hidden_layers=2, num_attention_heads=heads, num_key_value_heads=kv_heads,
        max_position_embeddings=positions, hidden_act="silu", rms_norm_eps=1e-5, attention_dropout=0.0,
        tie_word_embeddings=tied, bos_token_id=0, eos_token_id=0)
    return config | more


def bert(width=12, heads=2, inner=20, vocabulary=19, tied=True, layers=2, **more):
    config = dict(
        architectures=["BertForMaskedLM"], model_type="bert", vocab_size=vocabulary, hidden_size=width,
        intermediate_size=inner, num_hidden_layers=layers, num_attention_heads=heads, max_position_embeddings=10,
        type_vocab_size=2, hidden_act="gelu", layer_norm_eps=1e-12, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0, tie_word_embeddings=tied, pad_token_id=0)
    return config | more


def marian(width=8, heads=2, encoder_heads=4, inner=12, encoder_inner=16, vocabulary=17, encoders=1, decoders=1,
           tied=True, shared=True, **more):
    config = dict(
        architectures=["MarianMTModel"], model_type="marian", vocab_size=vocabulary, d_model=width,
        encoder_layers=encoders, decoder_layers=decoders, encoder_ffn_dim=encoder_inner, decoder_ffn_dim=inner,
        encoder_attention_heads=encoder_heads, decoder_attention_heads=heads, max_position_embeddings=12,
        activation_function="relu", scale_embedding=True, dropout=0.0, attention_dropout=0.0, activation_dropout=0.0,
        is_encoder_decoder=True, tie_word_embeddings=tied, share_encoder_decoder_embeddings=shared, pad_token_id=0,
        eos_token_id=1, decoder_start_token_id=START)
    return config | more


def roberta(**more):
    given = dict(architectures=["RobertaForMaskedLM"], model_type="roberta", max_position_embeddings=12,
                 type_vocab_size=1, layer_norm_eps=1e-5, bos_token_id=0, pad_token_id=1, eos_token_id=2)
    return bert(**given | more)


def decoder(kind, model_type, width=16, heads=2, kv_heads=1, inner=24, layers=2, positions=64, tied=False, **more):
    """What all decoders with rotary positions and gates write."""
    config = dict(
        architectures=[kind], model_type=model_type, vocab_size=29, hidden_size=width, intermediate_size=inner,
        num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=kv_heads,
        max_position_embeddings=positions, hidden_act="silu", rms_norm_eps=1e-5, attention_dropout=0.0,
        tie_word_embeddings=tied, bos_token_id=0, eos_token_id=0)
    config |= more
    if "rope_parameters" in more:
        config.pop("rope_theta", None)
    return config


def mistral(**more):
    return decoder("MistralForCausalLM", "mistral", **dict(head_dim=12, sliding_window=5, rope_theta=100.0) | more)


def qwen2(**more):
    given = dict(heads=4, kv_heads=2, tied=True, use_sliding_window=True, sliding_window=5, max_window_layers=1,
                 rope_theta=200.0, rms_norm_eps=1e-6)
    return decoder("Qwen2ForCausalLM", "qwen2", **given | more)


def qwen3(**more):
    given = dict(head_dim=12, attention_bias=False, use_sliding_window=False, sliding_window=None,
                 max_window_layers=2, rope_theta=300.0, rms_norm_eps=1e-6)
    return decoder("Qwen3ForCausalLM", "qwen3", **given | more)


def gemma(kind="GemmaForCausalLM", model_type="gemma", **more):
    """"gelu" of the first Gemma means its approximation by tanh, as its own files say it."""
    given = dict(head_dim=12, hidden_act="gelu", rms_norm_eps=1e-6, tied=True, rope_theta=100.0, attention_bias=False,
                 pad_token_id=0, eos_token_id=1, bos_token_id=2)
    return decoder(kind, model_type, **given | more)


def gemma2(kind="Gemma2ForCausalLM", model_type="gemma2", **more):
    given = dict(hidden_activation="gelu_pytorch_tanh", query_pre_attn_scalar=5, sliding_window=4,
                 attn_logit_softcapping=1.5, final_logit_softcapping=2.0)
    return gemma(kind, model_type, **dict(hidden_act="gelu_pytorch_tanh") | given | more)


def gemma3(**more):
    given = dict(layers=3, query_pre_attn_scalar=30, attn_logit_softcapping=None, final_logit_softcapping=None)
    return gemma2("Gemma3ForCausalLM", "gemma3_text", **given | more)


def phi3(**more):
    given = dict(original_max_position_embeddings=16, sliding_window=None, resid_pdrop=0.0, embd_pdrop=0.0,
                 pad_token_id=28, eos_token_id=28, bos_token_id=1)
    return decoder("Phi3ForCausalLM", "phi3", **given | more)


def smollm3(**more):
    given = dict(heads=4, kv_heads=2, layers=3, tied=True, rms_norm_eps=1e-6, pad_token_id=4, bos_token_id=2,
                 eos_token_id=3, attention_bias=False, mlp_bias=False, rope_theta=100.0, no_rope_layer_interval=2,
                 no_rope_layers=[1, 0, 1], use_sliding_window=False, sliding_window=None)
    return decoder("SmolLM3ForCausalLM", "smollm3", **given | more)


def olmo2(**more):
    given = dict(kv_heads=1, attention_bias=False, rope_theta=500.0, pad_token_id=1, bos_token_id=None,
                 eos_token_id=7)
    return decoder("Olmo2ForCausalLM", "olmo2", **given | more)


def granite(**more):
    given = dict(heads=4, kv_heads=2, attention_bias=False, mlp_bias=False, rope_theta=100.0, rms_norm_eps=1e-5,
                 embedding_multiplier=3.0, attention_multiplier=0.8, residual_multiplier=0.6, logits_scaling=1.5)
    return decoder("GraniteForCausalLM", "granite", **given | more)


def gpt_neox(width=16, heads=2, inner=24, layers=2, tied=False, **more):
    config = dict(
        architectures=["GPTNeoXForCausalLM"], model_type="gpt_neox", vocab_size=29, hidden_size=width,
        intermediate_size=inner, num_hidden_layers=layers, num_attention_heads=heads, max_position_embeddings=64,
        hidden_act="gelu", layer_norm_eps=1e-5, use_parallel_residual=True, attention_bias=True,
        attention_dropout=0.0, hidden_dropout=0.0, tie_word_embeddings=tied, bos_token_id=0, eos_token_id=0)
    return config | more


def starcoder2(**more):
    given = dict(heads=4, kv_heads=2, tied=True, hidden_act="gelu_pytorch_tanh", norm_epsilon=1e-5, use_bias=True,
                 sliding_window=5, rope_theta=100.0, residual_dropout=0.0, embedding_dropout=0.0,
                 norm_type="layer_norm", mlp_type="default")
    config = decoder("Starcoder2ForCausalLM", "starcoder2", **given | more)
    del config["rms_norm_eps"]
    return config


def nemotron(**more):
    given = dict(width=32, heads=4, kv_heads=2, hidden_act="relu2", norm_eps=1e-5, attention_bias=False, mlp_bias=False)
    if "rope_parameters" not in more:
        given |= dict(rope_theta=100.0, partial_rotary_factor=0.5)
    config = decoder("NemotronForCausalLM", "nemotron", **given | more)
    del config["rms_norm_eps"]
    return config


def vit(width=16, heads=2, inner=24, layers=2, side=8, patch=4, channels=3, classes=5, **more):
    config = dict(
        architectures=["ViTForImageClassification"], model_type="vit", hidden_size=width, intermediate_size=inner,
        num_hidden_layers=layers, num_attention_heads=heads, image_size=side, patch_size=patch, num_channels=channels,
        hidden_act="gelu", layer_norm_eps=1e-12, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
        qkv_bias=True, id2label={str(i): f"class {i}" for i in range(classes)},
        label2id={f"class {i}": i for i in range(classes)})
    return config | more


# Tokens of the models that know padding; RoBERTa's is another.
PADDING, END, START, FIRST = 0, 1, 2, 3

# transformers 5 writes the numbers of rotary positions this way; older ones as "rope_theta" and "rope_scaling".
ROPE = dict(rope_parameters=dict(rope_type="default", rope_theta=10000.0))

LLAMA_LINEARS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
MARIAN_LINEARS = ["q_proj", "k_proj", "v_proj", "out_proj", "fc1", "fc2"]
# Not "dense", which the head's transform is, too.
BERT_LINEARS = ["query", "key", "value", "attention.output.dense", "intermediate.dense", "output.dense"]
PHI3_LINEARS = ["qkv_proj", "o_proj", "gate_up_proj", "down_proj"]
NEOX_LINEARS = ["query_key_value", "dense", "dense_h_to_4h", "dense_4h_to_h"]
STARCODER2_LINEARS = ["q_proj", "k_proj", "v_proj", "o_proj", "c_fc", "c_proj"]
VIT_LINEARS = ["q_proj", "k_proj", "v_proj", "o_proj", "fc1", "fc2"]
NEMOTRON_LINEARS = ["q_proj", "k_proj", "v_proj", "o_proj", "up_proj", "down_proj"]


def adamw(beta2=0.999, epsilon=1e-5, decay=0.1):
    """Its epsilon is larger than usual: the gradient of GPT-2's key biases is 0 but for rounding, which
    AdamW would make an update of full size out of."""
    return dict(name="adamw", beta1=0.9, beta2=beta2, epsilon=epsilon, decay=decay)


def case(config, optimizer=None, rate="constant", maximum=3e-3, minimum=0.0, warmup=0, clip=0.0, batch=3,
         sequence=8, target_sequence=0, accumulation=1, smoothing=0.0, masked=0.0, lora=None, quantised=False,
         precision="fp32", draw=0):
    """`masked` is the share of tokens without loss, besides the rows that accumulation leaves unequal; of BERT,
    the share of tokens that are hidden and predicted. `draw` takes other random numbers, where the first ones make
    a case that is too chaotic."""
    settings = dict(
        steps=STEPS, batch=batch, sequence=sequence, target_sequence=target_sequence,
        optimizer=optimizer or adamw(),
        decayed="parameters with two or more dimensions",
        rate=dict(name=rate, maximum=maximum, minimum=minimum, warmup=warmup, rule=RATE_RULES[rate]),
        clip=clip, accumulation=accumulation, smoothing=smoothing, lora=lora, nf4=quantised,
        precision=precision)
    return dict(config=config, settings=settings, masked=masked, draw=draw)


CASES = {
    "gpt-tied": case(gpt2(tied=True)),
    "gpt-untied": case(gpt2(tied=False, heads=4, vocabulary=33), adamw(beta2=0.95)),
    "gpt-erf": case(gpt2(activation_function="gelu", n_inner=40, layer_norm_epsilon=1e-3)),
    "gpt-clip-cosine": case(
        gpt2(), rate="cosine", maximum=5e-3, minimum=5e-4, warmup=5, clip=0.5),
    "gpt-accumulate": case(gpt2(tied=False), batch=8, accumulation=4, masked=0.2),
    "gpt-smoothing": case(gpt2(), smoothing=0.1, masked=0.3),
    # Clipped in some steps and not in others; AdamW would hardly tell how much.
    "gpt-sgd": case(gpt2(), dict(name="sgd", momentum=0.9, decay=0.01), maximum=0.05, clip=2.0),
    "gpt-rsqrt": case(gpt2(tied=False), rate="inverse-root", maximum=5e-3, warmup=6),
    "gpt-bf16": case(gpt2(tied=False), maximum=1e-2, clip=1.0, precision="bf16"),
    "gpt-lora": case(
        gpt2(), maximum=5e-3, lora=dict(rank=4, alpha=8.0, targets=["c_attn", "c_proj", "c_fc"])),
    "llama": case(llama(**ROPE), adamw(epsilon=1e-8)),
    "llama-tied": case(
        llama(tied=True, kv_heads=1, rope_parameters=dict(rope_type="default", rope_theta=500.0)),
        adamw(epsilon=1e-8)),
    # A head is larger than its share of the width, and rotary positions are told the older way.
    "llama-bias": case(
        llama(heads=2, kv_heads=1, head_dim=16, attention_bias=True, mlp_bias=True, rms_norm_eps=1e-3,
              rope_theta=5000.0)),
    "llama3-scaling": case(
        llama(width=32, heads=2, kv_heads=1, inner=32, positions=256, rope_theta=10000.0,
              rope_scaling=dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                                original_max_position_embeddings=32)),
        batch=2, sequence=24),
    "llama-lora": case(
        llama(**ROPE), maximum=5e-3, lora=dict(rank=4, alpha=16.0, targets=LLAMA_LINEARS)),
    "llama-nf4": case(
        llama(width=32, inner=48, **ROPE), maximum=5e-3, quantised=True,
        lora=dict(rank=4, alpha=8.0, targets=LLAMA_LINEARS)),
    "bert": case(bert(), masked=0.4, maximum=1e-2, batch=4),
    "bert-untied": case(
        bert(tied=False, hidden_act="relu", heads=3, layers=1, layer_norm_eps=1e-3), masked=0.4, maximum=1e-2,
        batch=8, accumulation=4),
    "bert-bf16": case(bert(layers=1), masked=0.4, maximum=1e-2, clip=1.0, batch=6, precision="bf16"),
    "bert-lora": case(
        bert(hidden_act="gelu_new"), masked=0.4, maximum=1e-2, batch=8,
        lora=dict(rank=2, alpha=8.0, targets=BERT_LINEARS)),
    "marian": case(
        marian(decoders=2, activation_function="swish"), batch=4, target_sequence=6, maximum=1e-2, smoothing=0.1),
    "marian-two-tables": case(
        marian(shared=False, decoder_vocab_size=14, scale_embedding=False), batch=4, sequence=5, target_sequence=7,
        rate="inverse-root", maximum=2e-2, warmup=4, clip=0.8),
    "marian-untied": case(
        marian(tied=False, activation_function="gelu", encoders=2, encoder_inner=8), batch=6, accumulation=3,
        target_sequence=6, maximum=1e-2),
    "marian-bf16": case(marian(), batch=6, target_sequence=6, maximum=1e-2, precision="bf16"),
    "marian-nf4": case(
        marian(width=12, encoder_heads=3, encoder_inner=12, activation_function="swish"), batch=4, target_sequence=6,
        maximum=2e-2, quantised=True, lora=dict(rank=1, alpha=4.0, targets=MARIAN_LINEARS)),
}


def wide_case(config, **more):
    """Long enough that windows of 4 and 5 tokens and scaled positions matter."""
    return case(config, **dict(batch=2, sequence=14, maximum=5e-3) | more)


def bf16_case(config, **more):
    return wide_case(config, **dict(batch=3, maximum=3e-3, clip=1.0, precision="bf16") | more)


def lora_case(config, targets=None, **more):
    given = dict(optimizer=adamw(epsilon=1e-4), batch=4, maximum=1e-2, lora=dict(rank=2, alpha=8.0, targets=targets or LLAMA_LINEARS))
    return wide_case(config, **given | more)


def nf4_case(config, targets=None, **more):
    return lora_case(config, targets, **dict(quantised=True) | more)


def image_case(config, **more):
    sides = [config[key] if isinstance(config[key], list) else [config[key]] * 2 for key in ("image_size", "patch_size")]
    patches = (sides[0][0] // sides[1][0]) * (sides[0][1] // sides[1][1])
    return case(config, **dict(batch=4, sequence=1 + patches, maximum=5e-3) | more)


# "rope_parameters" here and "rope_theta" with "rope_scaling" there: both are read, whatever the family.
CASES |= {
    "llama-bf16": bf16_case(llama(width=16, inner=24, **ROPE), draw=1),
    "llama-linear": wide_case(
        llama(width=16, heads=2, kv_heads=1, inner=16, rope_theta=100.0, rope_scaling=dict(type="linear", factor=4.0))),
    # Sequences are longer than the positions, and the base of the rotation follows from how much longer.
    "llama-dynamic": wide_case(
        llama(width=16, heads=2, kv_heads=1, inner=16, positions=12,
              rope_parameters=dict(rope_type="dynamic", factor=2.0, rope_theta=100.0)), sequence=20),
    "llama-yarn": wide_case(
        llama(width=24, heads=2, kv_heads=1, inner=16, positions=256,
              rope_parameters=dict(rope_type="yarn", rope_theta=100.0, factor=4.0, beta_fast=4.0, beta_slow=1.5,
                                   original_max_position_embeddings=64, attention_factor=1.3, truncate=False)),
        sequence=24),
    "mistral": wide_case(mistral()),
    "mistral-lora": lora_case(mistral(rope_theta=1000.0, hidden_act="gelu")),
    "mistral-nf4": nf4_case(mistral(sliding_window=None), draw=1),
    "mistral-bf16": bf16_case(
        mistral(tied=True, rope_parameters=dict(rope_type="default", rope_theta=50.0))),
    "qwen2": wide_case(qwen2()),
    "qwen2-lora": lora_case(qwen2(layers=3, max_window_layers=2)),
    "qwen2-nf4": nf4_case(qwen2(use_sliding_window=False), draw=2),
    "qwen2-bf16": bf16_case(
        qwen2(tied=False, layer_types=["sliding_attention", "full_attention"], kv_heads=1), draw=2),
    "qwen3": wide_case(qwen3()),
    "qwen3-yarn": wide_case(
        qwen3(positions=128, attention_bias=True, tied=True, rope_theta=100.0,
              rope_scaling=dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=32))),
    "qwen3-lora": lora_case(
        qwen3(tied=True, use_sliding_window=True, sliding_window=4, max_window_layers=1)),
    "qwen3-nf4": nf4_case(qwen3()),
    "qwen3-bf16": bf16_case(qwen3(tied=True), draw=2),
    "gemma": wide_case(gemma()),
    "gemma-lora": lora_case(gemma(kv_heads=2)),
    "gemma-nf4": nf4_case(gemma()),
    "gemma-bf16": bf16_case(gemma(hidden_act="gelu_pytorch_tanh", heads=4)),
    "gemma2": wide_case(gemma2()),
    "gemma2-lora": lora_case(gemma2(attn_logit_softcapping=None)),
    "gemma2-nf4": nf4_case(gemma2(), draw=2),
    "gemma2-bf16": bf16_case(gemma2(kv_heads=2), draw=7),
    "gemma3": wide_case(
        gemma3(layer_types=["sliding_attention", "full_attention", "sliding_attention"],
               rope_parameters=dict(full_attention=dict(rope_type="linear", factor=8.0, rope_theta=1000.0),
                                    sliding_attention=dict(rope_type="default", rope_theta=10.0))),
        maximum=2e-3, draw=4),
    "gemma3-lora": lora_case(
        gemma3(rope_theta=1000.0, rope_local_base_freq=10.0, rope_scaling=dict(rope_type="linear", factor=8.0),
               sliding_window_pattern=2), maximum=5e-3),
    "gemma3-nf4": nf4_case(
        gemma3(layers=2, rope_theta=1000.0, rope_local_base_freq=10.0, sliding_window_pattern=2), draw=2),
    "gemma3-bf16": bf16_case(
        gemma3(layers=2, layer_types=["full_attention", "sliding_attention"], final_logit_softcapping=3.0,
               rope_parameters=dict(full_attention=dict(rope_type="default", rope_theta=1000.0),
                                    sliding_attention=dict(rope_type="default", rope_theta=10.0))), draw=18),
    # Up to 16 tokens by the short factors, beyond by the long ones.
    "phi3": wide_case(
        phi3(sliding_window=5,
             rope_parameters=dict(rope_type="longrope", rope_theta=100.0, partial_rotary_factor=0.75,
                                  short_factor=[1.0, 1.25, 1.5], long_factor=[1.5, 3.0, 6.0],
                                  original_max_position_embeddings=16))),
    "phi3-long": wide_case(
        phi3(rope_theta=100.0, partial_rotary_factor=0.75,
             rope_scaling=dict(type="longrope", short_factor=[1.0, 1.25, 1.5], long_factor=[1.5, 3.0, 6.0])),
        sequence=20),
    "phi3-lora": lora_case(
        phi3(heads=4, kv_heads=2, sliding_window=5, rope_theta=100.0, rope_scaling=None), PHI3_LINEARS),
    "phi3-nf4": nf4_case(phi3(rope_theta=100.0, rope_scaling=None, partial_rotary_factor=0.5), PHI3_LINEARS),
    "phi3-bf16": bf16_case(
        phi3(tied=True, rope_theta=100.0, partial_rotary_factor=0.75,
             rope_scaling=dict(type="longrope", short_factor=[1.0, 1.25, 1.5], long_factor=[1.5, 3.0, 6.0]))),
    "smollm3": wide_case(smollm3()),
    # Keys that nothing turns, with biases: their gradients are 0 but for rounding.
    "smollm3-window": wide_case(
        smollm3(attention_bias=True, mlp_bias=True, use_sliding_window=True, sliding_window=4, tied=False, layers=2,
                no_rope_layers=[1, 0])),
    "smollm3-lora": lora_case(
        smollm3(use_sliding_window=True, sliding_window=4, no_rope_layers=None), draw=1),
    "smollm3-nf4": nf4_case(smollm3(no_rope_layers=[0, 1, 1])),
    "smollm3-bf16": bf16_case(
        smollm3(layers=2, no_rope_layers=[1, 0], rope_parameters=dict(rope_type="default", rope_theta=50.0))),
    "olmo2": wide_case(olmo2(heads=4, kv_heads=2)),
    "olmo2-lora": lora_case(olmo2(attention_bias=True), draw=1),
    "olmo2-nf4": nf4_case(olmo2(kv_heads=2), draw=3),
    "olmo2-bf16": bf16_case(olmo2(kv_heads=2, layers=1), batch=6, draw=1),
    "granite": wide_case(granite(attention_bias=True, mlp_bias=True, tied=True)),
    "granite-lora": lora_case(granite(attention_bias=True)),
    "granite-nf4": nf4_case(granite(tied=True)),
    "granite-bf16": bf16_case(
        granite(tied=True, rope_parameters=dict(rope_type="default", rope_theta=50.0)), clip=0.5),
    "gpt-neox": wide_case(gpt_neox(rotary_pct=0.25, rotary_emb_base=100)),
    "gpt-neox-sequential": wide_case(
        gpt_neox(use_parallel_residual=False, attention_bias=False, hidden_act="gelu_new", tied=True,
                 rope_parameters=dict(rope_type="default", rope_theta=50.0, partial_rotary_factor=0.5))),
    "gpt-neox-lora": lora_case(
        gpt_neox(width=32, inner=40, rotary_pct=0.25, rotary_emb_base=100), NEOX_LINEARS),
    "gpt-neox-nf4": nf4_case(
        gpt_neox(use_parallel_residual=False, rotary_pct=1.0, rotary_emb_base=100), NEOX_LINEARS),
    "gpt-neox-bf16": bf16_case(
        gpt_neox(rope_parameters=dict(rope_type="default", rope_theta=50.0, partial_rotary_factor=0.5))),
    "starcoder2": wide_case(starcoder2()),
    "starcoder2-lora": lora_case(starcoder2(use_bias=False), STARCODER2_LINEARS),
    "starcoder2-nf4": nf4_case(starcoder2(sliding_window=None), STARCODER2_LINEARS),
    "starcoder2-bf16": bf16_case(
        starcoder2(tied=False, rope_parameters=dict(rope_type="default", rope_theta=50.0))),
    # Biases of the elements of keys that nothing turns: their gradients are 0 but for rounding.
    "nemotron": wide_case(nemotron(attention_bias=True, mlp_bias=True, norm_eps=1e-3), optimizer=adamw(epsilon=1e-4)),
    "nemotron-lora": lora_case(nemotron(head_dim=12, mlp_bias=True, tied=True), NEMOTRON_LINEARS),
    "nemotron-nf4": nf4_case(
        nemotron(kv_heads=4, attention_bias=True, hidden_act="gelu", partial_rotary_factor=0.75), NEMOTRON_LINEARS),
    "nemotron-bf16": bf16_case(
        nemotron(tied=True,
                 rope_parameters=dict(rope_type="default", rope_theta=50.0, partial_rotary_factor=0.75))),
    "roberta": case(roberta(), masked=0.4, maximum=1e-2, batch=4),
    "roberta-lora": case(
        # The head keeps GELU, whatever the blocks have.
        roberta(hidden_act="relu", type_vocab_size=2, pad_token_id=0, bos_token_id=1), masked=0.4, maximum=1e-2,
        batch=8, lora=dict(rank=2, alpha=8.0, targets=BERT_LINEARS)),
    "roberta-nf4": case(
        roberta(width=16, inner=24), masked=0.4, maximum=1e-2, batch=8, quantised=True,
        lora=dict(rank=2, alpha=8.0, targets=BERT_LINEARS)),
    "vit": image_case(vit(), optimizer=adamw(epsilon=1e-4)),
    # One channel, patches that are not square and leave pixels over, micro-batches of which one is without any loss.
    "vit-grey": image_case(
        vit(side=[9, 12], patch=[4, 3], channels=1, qkv_bias=False, hidden_act="gelu_new", layer_norm_eps=1e-3,
            classes=11), batch=8, accumulation=4, smoothing=0.1),
    "vit-lora": image_case(
        vit(hidden_act="relu"), optimizer=adamw(epsilon=1e-4), batch=4, maximum=1e-2,
        lora=dict(rank=2, alpha=8.0, targets=VIT_LINEARS)),
    "vit-nf4": image_case(
        vit(width=32, heads=4, inner=40), optimizer=adamw(epsilon=1e-4), batch=4, maximum=1e-2, quantised=True,
        lora=dict(rank=2, alpha=8.0, targets=VIT_LINEARS)),
    "vit-bf16": image_case(vit(side=12, layers=1), batch=6, maximum=3e-3, clip=1.0, precision="bf16"),
    "roberta-bf16": case(roberta(layers=1), masked=0.4, maximum=1e-2, clip=1.0, batch=6, precision="bf16"),
}


# What PEFT calls what a model is for; it has no word for masked tokens.
TASKS = {"bert": None, "roberta": None, "vit": None, "marian": "SEQ_2_SEQ_LM"}


def rate_of(rate, step):
    high, low, warmup = rate["maximum"], rate["minimum"], rate["warmup"]
    if rate["name"] == "constant":
        return high
    if rate["name"] == "inverse-root":
        return high * min((step + 1) / warmup, math.sqrt(warmup / (step + 1)))
    if step < warmup:
        return high * (step + 1) / (warmup + 1)
    return low + 0.5 * (1 + math.cos(math.pi * (step - warmup) / (STEPS - warmup))) * (high - low)


def leave_parts_unequal(settings, targets):
    """Very unequal micro-batches, and one without any loss."""
    parts, B = settings["accumulation"], settings["batch"]
    if parts > 1:
        for step in range(STEPS):
            part = step % parts
            targets[step, part * B // parts:(part + 1) * B // parts, 2:] = -1
        targets[3, :B // parts] = -1


def draw_lengths(random, steps, B, T):
    """One sequence of each step is whole."""
    lengths = random.integers(2, T + 1, (steps, B))
    lengths[np.arange(steps), random.integers(0, B, steps)] = T
    return lengths


def draw_windows(c, random):
    """Sequences that can be learned: three of four tokens follow from the one before. No token is padding."""
    settings = c["settings"]
    kinds = np.array([t for t in range(c["config"]["vocab_size"]) if t != c["config"].get("pad_token_id")])
    B, T, V = settings["batch"], settings["sequence"], len(kinds)
    sequences = random.integers(0, V, (STEPS, B, T + 1))
    follows = random.random(sequences.shape) < 0.75
    for t in range(T):
        sequences[:, :, t + 1] = np.where(follows[:, :, t], (3 * sequences[:, :, t] + 1) % V,
                                          sequences[:, :, t + 1])
    sequences = kinds[sequences]
    targets = sequences[:, :, 1:].copy()
    targets[random.random(targets.shape) < c["masked"]] = -1
    leave_parts_unequal(settings, targets)
    return dict(tokens=sequences[:, :, :-1], targets=targets)


def draw_masked(c, random):
    """Some tokens are hidden behind START, and predicted: few kinds are frequent, and most follow from their place."""
    settings, V = c["settings"], c["config"]["vocab_size"]
    B, T = settings["batch"], settings["sequence"]
    rare = (random.random((STEPS, B, T)) ** 3 * (V - FIRST)).astype(int)
    tokens = FIRST + np.where(random.random(rare.shape) < 0.5, rare, np.arange(T) // 2)
    lengths = draw_lengths(random, STEPS, B, T)
    present = np.arange(T) < lengths[:, :, None]
    hidden = (random.random(tokens.shape) < c["masked"]) & present
    hidden[:, :, 0] = True
    targets = np.where(hidden, tokens, -1)
    tokens = np.where(hidden, START, np.where(present, tokens, c["config"]["pad_token_id"]))
    leave_parts_unequal(settings, targets)
    return dict(tokens=tokens, targets=targets, lengths=lengths)


def draw_pairs(c, random):
    """Three of four tokens of a target follow from the source's at their place, or from its last."""
    settings, config = c["settings"], c["config"]
    V, W = config["vocab_size"], config.get("decoder_vocab_size", config["vocab_size"])
    B, T, S = settings["batch"], settings["sequence"], settings["target_sequence"]
    lengths, target_lengths = draw_lengths(random, STEPS, B, T), draw_lengths(random, STEPS, B, S)
    source = random.integers(FIRST, V, (STEPS, B, T))
    source = np.where(np.arange(T) < lengths[:, :, None], source, PADDING)
    places = np.minimum(np.arange(S), lengths[:, :, None] - 1)
    follows = (5 * (np.take_along_axis(source, places, 2) - FIRST) + 2) % (W - FIRST) + FIRST
    target = np.where(random.random(follows.shape) < 0.75, follows, random.integers(FIRST, W, follows.shape))
    target[np.arange(S) == target_lengths[:, :, None] - 1] = END
    present = np.arange(S) < target_lengths[:, :, None]
    given = np.concatenate([np.full((STEPS, B, 1), START), target[:, :, :-1]], 2)
    targets = np.where(present, target, -1)
    leave_parts_unequal(settings, targets)
    return dict(tokens=source, targets=targets, lengths=lengths, target_tokens=np.where(present, given, PADDING))


def draw_images(c, random):
    """Each class has a picture of its own, which noise hides in part."""
    settings, config = c["settings"], c["config"]
    B, parts = settings["batch"], settings["accumulation"]
    size = config["image_size"] if isinstance(config["image_size"], list) else [config["image_size"]] * 2
    shape = (config["num_channels"], *size)
    classes = len(config["id2label"])
    pictures = random.integers(0, 256, (classes, *shape))
    targets = random.integers(0, classes, (STEPS, B))
    pixels = np.where(random.random((STEPS, B, *shape)) < 0.6, pictures[targets],
                      random.integers(0, 256, (STEPS, B, *shape)))
    if parts > 1:
        for step in range(STEPS):
            targets[step, step % parts * B // parts] = -1
        targets[3, :B // parts] = -1
    return dict(pixels=pixels.astype(np.uint8), targets=targets[:, :, None])


def draw_data(c, random):
    draw = {"vit": draw_images, "bert": draw_masked, "roberta": draw_masked, "marian": draw_pairs}.get(c["config"]["model_type"], draw_windows)
    return {name: numbers if numbers.dtype == np.uint8 else numbers.astype(np.int32)
            for name, numbers in draw(c, random).items()}


def draw_weights(model, random):
    """Every parameter is random, those too that frameworks start at 0 or 1; sinusoids stay as they are. The norms
    of Gemma and Nemotron scale by 1 + weight."""
    start = 0.0 if model.config.model_type.startswith(("gemma", "nemotron")) else 1.0
    for name, parameter in all_parameters(model):
        values = random.standard_normal(tuple(parameter.shape))
        if parameter.ndim >= 2:
            values *= 0.15
        else:
            norm = ("norm" in name.lower() or ".ln_" in name) and name.endswith(".weight")
            values = 0.1 * values + (start if norm else 0.0)
        parameter.data.copy_(torch.from_numpy(values.astype(np.float32)))


def all_parameters(model):
    """Those of yoke: without sinusoids, with the bias of logits that the framework has as a buffer."""
    for name, parameter in model.named_parameters():
        if "embed_positions" not in name and "original_module" not in name:
            yield name, parameter
    for name, buffer in model.named_buffers():
        if name.endswith("final_logits_bias"):
            yield name, buffer


def build(c, random):
    """The model in fp32 with its initial parameters, its adapter_config.json, and what NF4 made of weights."""
    kind = getattr(transformers, c["config"]["architectures"][0])
    config = kind.config_class.from_dict(copy.deepcopy(c["config"]))
    model = kind._from_config(config, attn_implementation="eager")
    draw_weights(model, random)
    quantised = {}
    if c["settings"]["nf4"]:
        for name, parameter in model.named_parameters():
            if name.endswith(tuple(f".{target}.weight" for target in c["settings"]["lora"]["targets"])):
                quantised[name] = nf4.quantise(parameter.detach().numpy())
                parameter.data.copy_(torch.from_numpy(nf4.dequantise(quantised[name])))
    lora = c["settings"]["lora"]
    if not lora:
        return model, None, quantised
    model = peft.get_peft_model(model, peft.LoraConfig(
        task_type=TASKS.get(c["config"]["model_type"], "CAUSAL_LM"), r=lora["rank"], lora_alpha=lora["alpha"],
        target_modules=lora["targets"],
        modules_to_save=["classifier"] if c["config"]["model_type"] == "vit" else None,
        lora_dropout=0.0, bias="none", fan_in_fan_out=c["config"]["model_type"] == "gpt2"))
    for name, parameter in model.named_parameters():
        if parameter.requires_grad and ".lora_" in name:
            values = 0.1 * random.standard_normal(tuple(parameter.shape))
            parameter.data.copy_(torch.from_numpy(values.astype(np.float32)))
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        adapter = json.loads((pathlib.Path(folder) / "adapter_config.json").read_text())
        adapter["target_modules"].sort()
        saved = {public_name(name) for name in load_file(pathlib.Path(folder) / "adapter_model.safetensors")}
    names = {public_name(n) for n, p in model.named_parameters() if p.requires_grad}
    assert names == saved, names ^ saved
    return model, adapter, quantised


def public_name(name, neox=False):
    """The Hugging Face name of a base weight, the one PEFT saves of an adapter's."""
    if ".lora_" in name:
        return name.replace(".default.", ".")
    name = name.removeprefix("base_model.model.").replace(".base_layer.", ".").replace(".modules_to_save.default.", ".")
    # GPT-NeoX's files keep the name that its head had in transformers 4.
    return name.replace("lm_head.", "embed_out.") if neox else name


def make_optimizer(settings, parameters):
    o = settings["optimizer"]
    groups = [dict(params=[p for p in parameters if p.ndim >= 2], weight_decay=o["decay"]),
              dict(params=[p for p in parameters if p.ndim < 2], weight_decay=0.0)]
    groups = [g for g in groups if g["params"]]
    if o["name"] == "sgd":
        return torch.optim.SGD(groups, lr=1.0, momentum=o["momentum"], foreach=False)
    return torch.optim.AdamW(groups, lr=1.0, betas=(o["beta1"], o["beta2"]), eps=o["epsilon"], foreach=False)


def inputs_of(model, data):
    """What the model is called with, of some rows of a step."""
    if "pixels" in data:
        return dict(pixel_values=(data["pixels"].double() / 127.5 - 1).to(next(model.parameters()).dtype))
    inputs = dict(input_ids=data["tokens"].long())
    if "lengths" in data:
        inputs["attention_mask"] = (torch.arange(data["tokens"].shape[1]) < data["lengths"][:, None]).long()
    if "target_tokens" in data:
        inputs["decoder_input_ids"] = data["target_tokens"].long()
    return inputs


def backward(model, settings, data, dtype, scale=1.0):
    """Leaves the gradients of a step, times `scale`, in the model; returns its loss and the logits."""
    total = int((data["targets"] >= 0).sum())
    loss, logits = 0.0, []
    chunks = {name: numbers.chunk(settings["accumulation"]) for name, numbers in data.items()}
    for m in range(settings["accumulation"]):
        rows = {name: parts[m] for name, parts in chunks.items()}
        part = model(**inputs_of(model, rows)).logits
        summed = torch.nn.functional.cross_entropy(
            part.to(dtype).flatten(0, -2), rows["targets"].long().flatten(), ignore_index=-1, reduction="sum",
            label_smoothing=settings["smoothing"])
        (summed / total * scale).backward()
        loss += summed.item() / total
        logits.append(part.detach().float().numpy())
    return loss, np.concatenate(logits)


def freeze_idle(model, settings, data):
    """Parameters that take no part have no gradient, and the optimizers leave them alone."""
    backward(model, settings, data, torch.float32)
    for _, parameter in model.named_parameters():
        parameter.requires_grad_(parameter.grad is not None)
        parameter.grad = None


def convert(model, dtype):
    """As from_pretrained loads a model in a type: the frequencies of rotary positions stay fp32."""
    kept = [(module, name, buffer) for module in model.modules() for name, buffer in module.named_buffers(recurse=False)
            if name.endswith("inv_freq")]
    model.to(dtype)
    for module, name, buffer in kept:
        setattr(module, name, buffer)


def to_numpy(tensor):
    return tensor.detach().float().contiguous().numpy().copy()


def random_of(c):
    return np.random.default_rng(zlib.crc32(f"{c['name']}/{c['draw']}".encode() if c["draw"] else c["name"].encode()))


def disturb(weights, dtype, seed):
    """Moves weights at random, by up to an eighth of the distance of two numbers of a type of 16 bits."""
    random = np.random.default_rng(seed)
    for weight in weights:
        noise = torch.from_numpy(random.uniform(-1, 1, tuple(weight.shape)).astype(np.float32))
        weight.mul_(1 + noise * torch.finfo(dtype).eps / 16)


def train(c, dtype, seed=0):
    """All that the safetensors file holds, of a training run that computes in `dtype`, and the adapter's
    config. Masters are fp32 where dtype has 16 bits and the weights themselves elsewhere; with a seed all
    weights start a little off, see disturb()."""
    settings, neox = c["settings"], c["config"]["model_type"] == "gpt_neox"
    random = random_of(c)
    data = draw_data(c, random)
    model, adapter, quantised = build(c, random)
    record = {f"weights.{public_name(n, neox)}": to_numpy(p) for n, p in all_parameters(model)}
    for name, parts in quantised.items():
        record |= {f"nf4.{name}.{part}": value for part, value in parts.items()}
    record |= data
    steps = [{name: torch.from_numpy(numbers[step]) for name, numbers in data.items()} for step in range(STEPS)]
    freeze_idle(model, settings, steps[0])
    trained = [(public_name(n, neox), p) for n, p in model.named_parameters() if p.requires_grad]
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    scale = FP16_LOSS_SCALE if dtype == torch.float16 else 1.0
    masters = [p.detach().to(wide).clone() for _, p in trained]
    if seed:
        disturb(masters, dtype, seed)
        disturb([p.data for _, p in model.named_parameters() if not p.requires_grad], dtype, seed + 1000)
    convert(model, dtype)
    optimizer = make_optimizer(settings, masters)
    losses, norms = [], []
    rates = [rate_of(settings["rate"], step) for step in range(STEPS)]
    for step in range(STEPS):
        for master, (_, parameter) in zip(masters, trained):
            parameter.data.copy_(master)
            parameter.grad = None
        loss, logits = backward(model, settings, steps[step], wide, scale)
        for master, (_, parameter) in zip(masters, trained):
            master.grad = parameter.grad.to(wide) / scale
        if step == 0:
            record["logits"] = logits
            record |= {f"gradients.{n}": to_numpy(m.grad) for m, (n, _) in zip(masters, trained)}
        norm = torch.nn.utils.clip_grad_norm_(masters, settings["clip"] or math.inf, foreach=False)
        for group in optimizer.param_groups:
            group["lr"] = rates[step]
        optimizer.step()
        losses.append(loss)
        norms.append(norm.item())
    record |= {key: np.array(value, np.float32) for key, value in
               (("losses", losses), ("norms", norms), ("rates", rates))}
    record |= {f"final.{n}": to_numpy(m) for m, (n, _) in zip(masters, trained)}
    return record, adapter


def apart(a, b):
    a, b = a.astype(np.float64), b.astype(np.float64)
    return float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-6))


def is_still(name):
    """A bias of keys; of keys that positions turn it has a gradient, but no case of those is chaotic."""
    return name.endswith((".key.bias", ".k_proj.bias"))


def spread(record, exact):
    result = {key: apart(record[key], exact[key]) for key in ("logits", "losses", "norms")}
    for kind in ("gradients", "final"):
        result[kind] = max(apart(record[k], exact[k]) for k in record if k.startswith(kind + ".") and not is_still(k))
    return {key: float(f"{value:.2g}") for key, value in result.items()}


def apart_in_norm(a, b):
    """As model_oracle_apart_in_norm(): of numbers together, or a fourth of how far the worst of them is off."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    norm = math.sqrt(((a - b) ** 2).sum() / max((b ** 2).sum(), 1e-12 * b.size))
    return max(norm, apart(a, b) / 4)


def gradient_apart(name, record, exact):
    """A gradient that is 0 but for rounding is held against all gradients together, as model_oracle.c does it."""
    if np.abs(exact[name]).max() < 1e-6 * exact["norms"][0]:
        return float(np.abs(record[name]).max() / exact["norms"][0])
    return apart_in_norm(record[name], exact[name])


def present_logits(record):
    """Without those of padding, on which nothing depends."""
    if "lengths" not in record or "target_tokens" in record:
        return record["logits"]
    return record["logits"][np.arange(record["tokens"].shape[2]) < record["lengths"][0][:, None]]


def distances(record, exact):
    """As model_oracle_run() takes them."""
    gradients = [gradient_apart(key, record, exact) for key in record if key.startswith("gradients.")]
    return dict(logits=apart_in_norm(present_logits(record), present_logits(exact)),
                losses=apart_in_norm(record["losses"], exact["losses"]),
                norms=apart_in_norm(record["norms"], exact["norms"]), gradients=max(gradients),
                gradients_together=together(record, exact))


def together(record, exact):
    """The norm of all differences of gradients over that of all gradients."""
    names = [key for key in record if key.startswith("gradients.")]
    difference = sum(((record[key].astype(np.float64) - exact[key]) ** 2).sum() for key in names)
    return math.sqrt(difference / sum((exact[key].astype(np.float64) ** 2).sum() for key in names))


def spread16(c, exact):
    """How far a case in fp32 is from fp64 when it is trained in 16 bits."""
    result = {}
    for name, dtype in (("bf16", torch.bfloat16), ("fp16", torch.float16)):
        found = [distances(train(c, dtype, seed)[0], exact) for seed in range(RUNS16)]
        result[name] = {key: float(f"{max(each[key] for each in found):.2g}") for key in found[0]}
    return result


def exact_part(exact):
    """What a case in bf16 records of the run in fp64."""
    return {f"exact.{key}": value for key, value in exact.items()
            if key in ("logits", "losses", "norms") or key.startswith("gradients.")}


def demand(c, record):
    """What a case is there for does happen in it."""
    settings, config = c["settings"], c["config"]
    still = c | dict(settings=settings | dict(rate=settings["rate"] | dict(maximum=0.0, minimum=0.0)))
    dtype = torch.bfloat16 if settings["precision"] == "bf16" else torch.float32
    learned = train(still, dtype)[0]["losses"] - record["losses"]
    assert learned[0] == 0 and learned[-5:].mean() > 0.1, learned
    if settings["clip"]:
        assert (record["norms"] > settings["clip"]).sum() >= STEPS // 5, record["norms"]
    if settings["accumulation"] > 1:
        parts = (record["targets"] >= 0).reshape(STEPS, settings["accumulation"], -1).sum(-1)
        assert (parts.max(1) > parts.min(1)).all() and (parts == 0).any()
    if (config.get("rope_scaling") or {}).get("rope_type") == "llama3":
        scaling, d = config["rope_scaling"], config["hidden_size"] // config["num_attention_heads"]
        waves = 2 * math.pi * config["rope_theta"] ** (np.arange(0, d, 2) / d)
        short = scaling["original_max_position_embeddings"] / scaling["high_freq_factor"]
        long = scaling["original_max_position_embeddings"] / scaling["low_freq_factor"]
        assert (waves < short).any() and (waves > long).any() and ((waves > short) & (waves < long)).any()
    for what, other in without_each_feature(config):
        distance = apart(first_logits(c | dict(config=other)), record["logits"])
        assert distance > (5e-3 if settings["precision"] == "fp32" else 1e-3), (what, distance)


# What a config would say if the model had not that feature.
PLAIN = dict(
    sliding_window=1000, rope_scaling=None, attn_logit_softcapping=None, final_logit_softcapping=None,
    embedding_multiplier=1.0, attention_multiplier=0.5, residual_multiplier=1.0, logits_scaling=1.0, rotary_pct=1.0,
    rotary_emb_base=10000, partial_rotary_factor=1.0, rope_theta=20.0, rope_local_base_freq=300.0)


def without_each_feature(config):
    """Configs that each lack one thing, of the same shapes: what is in a config must be seen in the results."""
    for key, plain in PLAIN.items():
        windowed = key != "sliding_window" or config.get("use_sliding_window", True)
        if config.get(key) not in (None, plain) and windowed and can_lack(config, key):
            yield key, config | {key: plain}
    if "use_parallel_residual" in config:
        yield "residual", config | dict(use_parallel_residual=not config["use_parallel_residual"])
    if config.get("no_rope_layers"):
        yield "no_rope_layers", config | dict(no_rope_layers=[1] * config["num_hidden_layers"])
    if config.get("query_pre_attn_scalar"):
        yield "query_pre_attn_scalar", config | dict(query_pre_attn_scalar=config["head_dim"])
    if config.get("layer_types"):
        yield "layer_types", config | dict(layer_types=config["layer_types"][::-1][:-1] + ["full_attention"])
    rope = config.get("rope_parameters")
    if not rope:
        return
    parts = [(key, part) for key, part in rope.items() if isinstance(part, dict)]
    for key, part in parts or [(None, rope)]:
        changes = [dict(rope_type="default", rope_theta=part["rope_theta"]), part | dict(rope_theta=20.0)]
        for change in changes:
            if "partial_rotary_factor" in part:
                change["partial_rotary_factor"] = part["partial_rotary_factor"]
            if change != part:
                yield "rope_parameters", config | dict(rope_parameters=rope | {key: change} if key else change)


def can_lack(config, key):
    """The lists of factors of phi3 fit to the share of a head that turns; two numbers turn by 1, whatever the base."""
    if key == "rotary_emb_base":
        return config["hidden_size"] // config["num_attention_heads"] * config["rotary_pct"] > 2
    scaled = config.get("rope_scaling") or {}
    return key != "partial_rotary_factor" or "long_factor" not in scaled


def first_logits(c):
    """Those of step 0, in the type of the case."""
    random = random_of(c)
    data = draw_data(c, random)
    model = build(c, random)[0]
    convert(model, torch.bfloat16 if c["settings"]["precision"] == "bf16" else torch.float32)
    with torch.no_grad():
        return model(**inputs_of(model, {name: torch.from_numpy(each[0]) for name, each in data.items()})).logits.float().numpy()


def write(name, c, record, adapter, agreement):
    """`agreement` holds "spread" and, of a case in fp32, "spread16"."""
    versions = dict(torch=torch.__version__, transformers=transformers.__version__, peft=peft.__version__)
    document = dict(made_by="tests/oracle/make_training_fixtures.py", versions=versions, config=c["config"],
                    settings=c["settings"]) | agreement
    if adapter:
        document["adapter_config"] = adapter
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.json").write_text(json.dumps(document, indent=2) + "\n")
    save_file(record, FOLDER / f"{name}.safetensors", metadata={"format": "pt"})


def extend(name, c, exact):
    """Adds what fp64 tells to a case that is there, whose own run stays as it is."""
    path = FOLDER / f"{name}.json"
    document = json.loads(path.read_text())
    record = load_file(FOLDER / f"{name}.safetensors")
    for key in record:
        if key.startswith("weights.") or record[key].dtype in (np.int32, np.uint8) and not key.startswith("nf4."):
            assert np.array_equal(record[key], exact[key]), key
    if c["settings"]["precision"] == "bf16":
        save_file({k: v for k, v in record.items() if not k.startswith("exact.")} | exact_part(exact),
                  FOLDER / f"{name}.safetensors", metadata={"format": "pt"})
        return spread(record, exact)
    document["spread16"] = spread16(c, exact)
    path.write_text(json.dumps(document, indent=2) + "\n")
    return document["spread"]


def compare(name, record):
    """The largest difference from the fixture that is there, besides what fp64 gave."""
    old = {key: value for key, value in load_file(FOLDER / f"{name}.safetensors").items()
           if not key.startswith("exact.")}
    assert set(old) == set(record), set(old) ^ set(record)
    return max(apart(record[key], old[key]) for key in record)


def make(name, c):
    """Returns the spread."""
    record, adapter = train(c, DTYPES[c["settings"]["precision"]])
    demand(c, record)
    exact = train(c, torch.float64)[0]
    agreement = dict(spread=spread(record, exact))
    if c["settings"]["precision"] == "fp32":
        agreement["spread16"] = spread16(c, exact)
    else:
        record |= exact_part(exact)
    write(name, c, record, adapter, agreement)
    return agreement["spread"]


def check(name, c):
    """Returns how far a new run is from the fixture."""
    record, _ = train(c, DTYPES[c["settings"]["precision"]])
    demand(c, record)
    return compare(name, record)


def main():
    parser = argparse.ArgumentParser(description="Makes the training cases of tests/nn/fixtures.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare with what is there")
    parser.add_argument("--extend", action="store_true",
                        help="keep the recorded runs, and only add to them how far 16 bits are from fp64")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="one of " + ", ".join(CASES))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    failed = False
    for name in arguments.cases or CASES:
        c = CASES[name] | dict(name=name)
        if arguments.check:
            difference = check(name, c)
            failed |= difference > 1e-4
            print(f"{name}: {difference:.1e} from the fixture")
            continue
        agreement = extend(name, c, train(c, torch.float64)[0]) if arguments.extend else make(name, c)
        failed |= any(agreement[key] > limit for key, limit in SPREAD[c["settings"]["precision"]].items())
        size = (FOLDER / f"{name}.safetensors").stat().st_size
        words = ", ".join(f"{key} {value:.1e}" for key, value in agreement.items())
        print(f"{name}: {size >> 10} KiB; apart from fp64: {words}", flush=True)
    if failed:
        raise SystemExit("A case is too far from what it should be; see above.")


if __name__ == "__main__":
    main()
