#!/usr/bin/env python3
"""Draws configs of all families at random and records which parameters transformers gives their models, and which
tensors PEFT's adapters have: tests/model/family_cases.inc.

    /tmp/oracle/bin/python tests/oracle/make_family_cases.py             # writes the file
    /tmp/oracle/bin/python tests/oracle/make_family_cases.py --check     # compares with what is there
    ... make_family_cases.py --verify    # saves the small models and their adapters, and compares with the files' names
    ... make_family_cases.py --print 17  # the lines that the digests of case 17 are of

    FAMILY_CASE(family, config.json, parameters, digest, digest of the adapter)
    MOE_CASE(family, config.json, parameters, parameters that one token passes through)

A digest is the first 16 digits of the SHA-256 of lines "name shape", such as "model.norm.weight 64" or
"lm_head.weight 50,64", sorted by their bytes, each with a line feed. Names are those of model.safetensors and
adapter_model.safetensors. Tied parameters stand there once, by the name that is saved; buffers and the sinusoids of
Marian do not. An adapter has rank 2 and is on every linear layer of the blocks, on nothing else; of a model of images,
the head is saved with it.

Configs are as transformers 5 writes them, or, in about half of the cases, as transformers 4 did: "rope_theta" and
"rope_scaling" instead of "rope_parameters", no "layer_types". What no model depends on here is left out. Every tenth
model is of a size that is used, the others are small.
"""
import argparse
import hashlib
import json
import pathlib
import random
import re
import sys
import tempfile
import warnings

import peft
import torch
import transformers
from safetensors import safe_open
from transformers.pytorch_utils import Conv1D

FILE = pathlib.Path(__file__).resolve().parent.parent / "model" / "family_cases.inc"
COUNT = 306
IMAGE_COUNT = 18
SEED = 27

# What every config says and neither shapes nor results of the models here depend on.
NOISE = {"_name_or_path", "chunk_size_feed_forward", "id2label", "label2id", "output_attentions",
         "output_hidden_states", "problem_type", "return_dict", "transformers_version", "use_cache", "dtype",
         "classifier_dropout", "is_decoder", "attention_dropout", "activation_dropout", "dropout",
         "encoder_layerdrop", "decoder_layerdrop", "hidden_dropout_prob", "attention_probs_dropout_prob",
         "hidden_dropout", "residual_dropout", "embedding_dropout", "resid_pdrop", "embd_pdrop", "attn_pdrop",
         "summary_activation", "summary_first_dropout", "summary_proj_to_labels", "summary_type", "summary_use_proj",
         "initializer_range", "init_std", "add_cross_attention", "reorder_and_upcast_attn", "pretraining_tp",
         "scale_attn_by_inverse_layer_idx", "scale_attn_weights", "_sliding_window_pattern", "output_router_logits",
         "router_aux_loss_coef", "router_jitter_noise", "input_jitter_noise", "use_bidirectional_attention",
         "forced_eos_token_id"}


class Draw(random.Random):
    """Random sizes, small ones or such as are used."""

    def sizes(self, large):
        self.large = large
        self.heads = self.choice((8, 12, 16, 32, 64) if large else (1, 2, 3, 4, 6, 8))
        self.kv_heads = self.choice([k for k in range(1, self.heads + 1) if self.heads % k == 0])
        self.head_dim = self.choice((64, 128) if large else (4, 6, 8, 10, 16))
        self.width = self.heads * self.head_dim
        self.layers = self.choice((12, 24, 32) if large else (1, 2, 2, 3))
        self.inner = self.choice((2048, 8192, 14336) if large else (8, 12, 20, 33, 48))
        self.vocabulary = self.choice((32000, 50257, 151936, 262144) if large else (17, 29, 40, 101))
        self.positions = self.choice((2048, 4096, 131072) if large else (16, 32, 64))

    def flag(self, share=0.5):
        return self.random() < share

    def free_head_dim(self):
        """One that need not be a head's share of the width."""
        return self.choice((64, 128, 256) if self.large else (4, 8, 12, 16))

    def window(self):
        return self.choice((512, 4096) if self.large else (3, 4, 7))

    def ids(self, *names):
        return {name: self.choice((None, self.randrange(self.vocabulary))) for name in names}

    def layer_types(self):
        return [self.choice(("sliding_attention", "full_attention")) for _ in range(self.layers)]

    def theta(self):
        return self.choice((10000.0, 500000.0, 1000000.0, 130.5))

    def rope(self, head_dim=0):
        """The numbers of rotary positions; yarn and llama3 with all that they need."""
        parameters = dict(rope_type="default", rope_theta=self.theta())
        kind = self.choice(("default", "default", "linear", "dynamic", "yarn", "llama3"))
        if kind != "default":
            parameters |= dict(rope_type=kind, factor=self.choice((2.0, 4.0, 8.0)))
        if kind in ("yarn", "llama3"):
            parameters["original_max_position_embeddings"] = self.positions // 2
        if kind == "llama3":
            parameters |= dict(low_freq_factor=1.0, high_freq_factor=4.0)
        if kind == "yarn" and self.flag():
            parameters |= dict(beta_fast=16.0, beta_slow=2.0)
        return parameters


def common(r, tied=0.5):
    """What decoders with rotary positions share."""
    return dict(vocab_size=r.vocabulary, hidden_size=r.width, intermediate_size=r.inner, num_hidden_layers=r.layers,
                num_attention_heads=r.heads, max_position_embeddings=r.positions, tie_word_embeddings=r.flag(tied),
                rope_parameters=r.rope(), **r.ids("bos_token_id", "eos_token_id", "pad_token_id"))


def gpt2(r):
    return "GPT2LMHeadModel", dict(
        vocab_size=r.vocabulary, n_positions=r.positions, n_embd=r.width, n_layer=r.layers, n_head=r.heads,
        n_inner=r.choice((None, r.inner)), activation_function=r.choice(("gelu_new", "gelu", "relu")),
        tie_word_embeddings=r.flag(0.7), **r.ids("bos_token_id", "eos_token_id"))


def llama(r):
    more = dict(head_dim=r.free_head_dim()) if r.flag(0.3) else {}
    return "LlamaForCausalLM", common(r) | dict(
        num_key_value_heads=r.kv_heads, attention_bias=r.flag(0.3), mlp_bias=r.flag(0.3)) | more


def mistral(r):
    return "MistralForCausalLM", common(r, 0.2) | dict(
        num_key_value_heads=r.kv_heads, head_dim=r.choice((None, r.free_head_dim())),
        sliding_window=r.choice((None, r.window())))


def windowed(r):
    return dict(use_sliding_window=r.flag(), sliding_window=r.window(), max_window_layers=r.randrange(r.layers + 1)) | (
        dict(layer_types=r.layer_types(), use_sliding_window=True) if r.flag(0.2) else {})


def qwen2(r):
    return "Qwen2ForCausalLM", common(r) | windowed(r) | dict(num_key_value_heads=r.kv_heads)


def qwen3(r):
    return "Qwen3ForCausalLM", common(r) | windowed(r) | dict(
        num_key_value_heads=r.kv_heads, head_dim=r.free_head_dim(), attention_bias=r.flag(0.3))


def gemma(r):
    return "GemmaForCausalLM", common(r, 0.8) | dict(
        num_key_value_heads=r.kv_heads, head_dim=r.free_head_dim(), attention_bias=r.flag(0.2),
        hidden_act=r.choice(("gelu_pytorch_tanh", "silu")))


def gemma2(r):
    return "Gemma2ForCausalLM", common(r, 0.8) | dict(
        num_key_value_heads=r.kv_heads, head_dim=r.free_head_dim(), attention_bias=r.flag(0.2),
        query_pre_attn_scalar=r.choice((16, 256)), sliding_window=r.window(),
        attn_logit_softcapping=r.choice((None, 50.0)), final_logit_softcapping=r.choice((None, 30.0)),
        layer_types=r.choice((None, r.layer_types())))


def gemma3(r):
    full = dict(rope_type="linear", factor=8.0) if r.flag() else dict(rope_type="default")
    config = gemma2(r)[1] | dict(rope_parameters=dict(
        full_attention=full | dict(rope_theta=1000000.0),
        sliding_attention=dict(rope_type="default", rope_theta=10000.0)))
    return "Gemma3ForCausalLM", config | dict(attn_logit_softcapping=None, final_logit_softcapping=None)


def phi3(r):
    share = r.choice((1.0, 0.5)) if r.head_dim % 4 == 0 else 1.0
    half = int(r.head_dim * share) // 2
    rope = dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=share)
    if r.flag():
        rope |= dict(rope_type="longrope", short_factor=[1.0 + i / 8 for i in range(half)],
                     long_factor=[1.5 + i / 4 for i in range(half)])
    return "Phi3ForCausalLM", common(r, 0.2) | dict(
        num_key_value_heads=r.choice((None, r.kv_heads)), original_max_position_embeddings=r.positions // 2,
        sliding_window=r.choice((None, r.window())), rope_parameters=rope)


def smollm3(r):
    return "SmolLM3ForCausalLM", common(r, 0.8) | dict(
        num_key_value_heads=r.kv_heads, attention_bias=r.flag(0.3), mlp_bias=r.flag(0.3),
        no_rope_layers=r.choice((None, [r.randrange(2) for _ in range(r.layers)])),
        no_rope_layer_interval=r.choice((2, 4)), use_sliding_window=r.flag(), sliding_window=r.choice((None, r.window())))


def olmo2(r):
    return "Olmo2ForCausalLM", common(r, 0.2) | dict(
        num_key_value_heads=r.choice((None, r.kv_heads)), attention_bias=r.flag(0.3))


def granite(r):
    return "GraniteForCausalLM", common(r) | dict(
        num_key_value_heads=r.choice((None, r.kv_heads)), attention_bias=r.flag(0.3), mlp_bias=r.flag(0.3),
        embedding_multiplier=r.choice((1.0, 12.0)), attention_multiplier=r.choice((1.0, 0.015625)),
        residual_multiplier=r.choice((1.0, 0.22)), logits_scaling=r.choice((1.0, 8.0)))


def gpt_neox(r):
    share = r.choice((0.5, 1.0))
    if r.head_dim * share % 2:  # only whole pairs can be rotated
        share = 1.0
    rope = dict(rope_type="default", rope_theta=10000.0, partial_rotary_factor=share)
    return "GPTNeoXForCausalLM", common(r, 0.2) | dict(
        use_parallel_residual=r.flag(), attention_bias=r.flag(0.8), hidden_act=r.choice(("gelu", "gelu_new")),
        rope_parameters=rope)


def starcoder2(r):
    return "Starcoder2ForCausalLM", common(r, 0.7) | dict(
        num_key_value_heads=r.kv_heads, use_bias=r.flag(0.7), sliding_window=r.choice((None, r.window())))


def nemotron(r):
    head_dim = r.choice((None, r.free_head_dim()))
    share = r.choice((0.5, 1.0)) if (head_dim or r.head_dim) % 4 == 0 else 1.0  # only whole pairs can be rotated
    return "NemotronForCausalLM", common(r, 0.2) | dict(
        num_key_value_heads=r.kv_heads, head_dim=head_dim, attention_bias=r.flag(0.3), mlp_bias=r.flag(0.3),
        hidden_act=r.choice(("relu2", "relu2", "silu")), rope_parameters=r.rope() | dict(partial_rotary_factor=share))


def encoder(r):
    return dict(
        vocab_size=r.vocabulary, hidden_size=r.width, intermediate_size=r.inner, num_hidden_layers=r.layers,
        num_attention_heads=r.heads, max_position_embeddings=r.positions, type_vocab_size=r.choice((1, 2)),
        hidden_act=r.choice(("gelu", "gelu_new", "relu")), tie_word_embeddings=r.flag(0.8))


def bert(r):
    return r.choice(("BertForMaskedLM", "BertForMaskedLM", "BertForPreTraining")), encoder(r) | dict(pad_token_id=0)


def roberta(r):
    return "RobertaForMaskedLM", encoder(r) | dict(pad_token_id=r.choice((0, 1)), layer_norm_eps=1e-5)


def marian(r):
    shared = r.flag(0.7)
    return "MarianMTModel", dict(
        vocab_size=r.vocabulary, d_model=r.width, encoder_layers=r.layers, decoder_layers=r.choice((1, 2, r.layers)),
        encoder_attention_heads=r.kv_heads, decoder_attention_heads=r.heads, encoder_ffn_dim=r.inner,
        decoder_ffn_dim=r.inner + 4, max_position_embeddings=r.positions, scale_embedding=r.flag(),
        activation_function=r.choice(("swish", "gelu", "relu")), tie_word_embeddings=r.flag(0.7),
        share_encoder_decoder_embeddings=shared, decoder_vocab_size=r.vocabulary if shared else r.vocabulary + 3,
        pad_token_id=r.vocabulary - 1, decoder_start_token_id=r.vocabulary - 1, eos_token_id=0)


def vit(r):
    patch = [r.choice((1, 2, 3, 4)), r.choice((2, 4, 5))] if r.flag(0.3) else r.choice((16, 14) if r.large else (2, 3, 4))
    side = 224 if r.large else r.choice((12, 16, [9, 20]))
    classes = 24 if r.large else r.choice((2, 5, 11))
    return "ViTForImageClassification", dict(
        hidden_size=r.width, num_hidden_layers=r.layers, num_attention_heads=r.heads, intermediate_size=r.inner,
        image_size=side, patch_size=patch, num_channels=r.choice((1, 3, 4)), qkv_bias=r.flag(0.8),
        hidden_act=r.choice(("gelu", "gelu_new", "relu")), layer_norm_eps=r.choice((1e-12, 1e-6)),
        id2label={i: f"kind {i}" for i in range(classes)} if r.flag() else {i: f"LABEL_{i}" for i in range(classes)})


FAMILIES = [gpt2, llama, mistral, qwen2, qwen3, gemma, gemma2, gemma3, phi3, smollm3, olmo2, granite, gpt_neox,
            starcoder2, bert, roberta, marian, nemotron]


def experts(r, **more):
    plain = dict(rope_type="default", rope_theta=r.theta())
    return common(r) | dict(
        rope_parameters=plain, num_key_value_heads=r.kv_heads, num_experts_per_tok=r.choice((1, 2, 4))) | more


# Twelve configs; where a family has dense layers between, and experts that every token passes through, one has them.
MOES = [
    ("MixtralForCausalLM", lambda r: experts(r, num_local_experts=8)),
    ("MixtralForCausalLM", lambda r: experts(r, num_local_experts=4, head_dim=r.free_head_dim())),
    ("Qwen2MoeForCausalLM", lambda r: experts(r, num_experts=6, moe_intermediate_size=10,
                                              shared_expert_intermediate_size=14)),
    ("Qwen2MoeForCausalLM", lambda r: experts(r, num_experts=5, moe_intermediate_size=12, num_hidden_layers=4,
                                              shared_expert_intermediate_size=8, decoder_sparse_step=2,
                                              mlp_only_layers=[3], qkv_bias=False)),
    ("Qwen3MoeForCausalLM", lambda r: experts(r, num_experts=16, moe_intermediate_size=6, head_dim=12)),
    ("Qwen3MoeForCausalLM", lambda r: experts(r, num_experts=8, moe_intermediate_size=10, head_dim=8,
                                              num_hidden_layers=4, mlp_only_layers=[0, 2])),
    ("OlmoeForCausalLM", lambda r: experts(r, num_experts=9)),
    ("GraniteMoeForCausalLM", lambda r: experts(r, num_local_experts=7, embedding_multiplier=3.0)),
    ("GraniteMoeForCausalLM", lambda r: experts(r, num_local_experts=40, attention_bias=True)),
    ("PhimoeForCausalLM", lambda r: experts(r, num_local_experts=6, num_experts_per_tok=2, attention_bias=True,
                                            lm_head_bias=True)),
    ("GptOssForCausalLM", lambda r: experts(r, num_local_experts=5, head_dim=8, sliding_window=4)),
    ("GptOssForCausalLM", lambda r: experts(r, num_local_experts=32, head_dim=16, num_hidden_layers=3)),
]


def as_written(kind, fields, r):
    """The text of a config.json, as transformers 5 writes it or as transformers 4 did."""
    config = getattr(transformers, kind).config_class(**fields)
    text = json.loads(config.to_json_string())
    text["architectures"] = [kind]
    kept = ("id2label",) if kind.startswith("ViT") else ()
    written = {key: value for key, value in text.items() if key not in NOISE or key in kept}
    if r.large or r.flag():
        older(written, r)
    return json.dumps(dict(sorted(written.items())), separators=(",", ":"))


def older(written, r):
    """The same in the keys of transformers 4; there the types of layers followed from other keys."""
    family, rope = written["model_type"], written.pop("rope_parameters", None)
    derived = {"qwen2", "qwen3", "smollm3", "gemma2", "gemma3_text"}
    if family in derived and follows(written):
        written.pop("layer_types")
    if rope is None:
        return
    if family == "gemma3_text":
        written["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"]
        rope = rope["full_attention"]
    rope = dict(rope)
    theta, share = rope.pop("rope_theta"), rope.pop("partial_rotary_factor", None)
    written["rope_theta" if family != "gpt_neox" else "rotary_emb_base"] = theta
    if share is not None:
        written["partial_rotary_factor" if family != "gpt_neox" else "rotary_pct"] = share
    if rope["rope_type"] == "default":
        if r.flag():
            written["rope_scaling"] = None
        return
    if family == "phi3":
        rope.pop("original_max_position_embeddings", None)
    if r.flag():
        rope["type"] = rope.pop("rope_type")
    written["rope_scaling"] = rope


def follows(written):
    """Whether the types of layers are what the family would make of the other keys."""
    config = transformers.AutoConfig.for_model(written["model_type"], **{
        key: value for key, value in written.items() if key not in ("layer_types", "model_type")})
    return config.layer_types == written["layer_types"]


def build(text, device="meta"):
    given = json.loads(text)
    kind = getattr(transformers, given["architectures"][0])
    with torch.device(device):
        model = kind._from_config(kind.config_class.from_dict(given), attn_implementation="eager")
    model.tie_weights()
    return model


# transformers 5 has other names in memory than in files; adapters have those in memory.
VIT_FILE_NAMES = [("vit.layers.", "vit.encoder.layer."), ("attention.q_proj", "attention.attention.query"),
                  ("attention.k_proj", "attention.attention.key"), ("attention.v_proj", "attention.attention.value"),
                  ("attention.o_proj", "attention.output.dense"), ("mlp.fc1", "intermediate.dense"),
                  ("mlp.fc2", "output.dense")]


def parameters_of(model):
    """Names in files and shapes."""
    neox = model.config.model_type == "gpt_neox"
    for name, parameter in model.named_parameters():
        if "embed_positions" not in name or model.config.model_type != "marian":
            if model.config.model_type == "vit":
                for in_memory, in_files in VIT_FILE_NAMES:
                    name = name.replace(in_memory, in_files)
            yield name.replace("lm_head.", "embed_out.") if neox else name, tuple(parameter.shape)


def linears_of(model):
    """The linear layers inside of blocks."""
    blocks = [name for name, module in model.named_modules() if isinstance(module, torch.nn.ModuleList)]
    return [name for name, module in model.named_modules()
            if isinstance(module, (torch.nn.Linear, Conv1D)) and name.startswith(tuple(b + "." for b in blocks))]


def adapt(model):
    return peft.get_peft_model(model, peft.LoraConfig(
        r=2, target_modules=linears_of(model),
        modules_to_save=["classifier"] if model.config.model_type == "vit" else None, fan_in_fan_out=model.config.model_type == "gpt2"))


def adapter_of(model):
    for name, tensor in peft.get_peft_model_state_dict(adapt(model)).items():
        yield name, tuple(tensor.shape)


def lines_of(tensors):
    return sorted(f"{name} {','.join(map(str, shape))}\n".encode() for name, shape in tensors)


def digest(tensors):
    return hashlib.sha256(b"".join(lines_of(tensors))).hexdigest()[:16]


def count(model):
    return sum(torch.Size(shape).numel() for _, shape in parameters_of(model))


def active(model):
    """Less the parameters of the experts that a token does not choose."""
    config, left_out = model.config, 0
    for name, module in model.named_modules():
        if name.endswith(".experts"):
            tensors = list(module.parameters())
            number = tensors[0].shape[0]
            assert all(t.shape[0] == number for t in tensors), name
            whole = sum(t.numel() for t in tensors)
            left_out += whole // number * (number - config.num_experts_per_tok)
    assert left_out
    return count(model) - left_out


def c_string(text, width=110):
    """Literals of at most so many characters that C puts together again, cut behind commas."""
    lines = [""]
    for part in re.findall("[^,]*,?", text):
        escaped = part.replace('"', '\\"')
        if len(lines[-1]) + len(escaped) > width:
            lines.append("")
        lines[-1] += escaped
    return "\n".join(f'    "{line}"' for line in lines)


def draw_texts():
    for i in range(COUNT):
        family = FAMILIES[i % len(FAMILIES)]
        r = Draw(f"{SEED}/{i}")
        r.sizes(large=i // len(FAMILIES) % 10 == 9)
        kind, fields = family(r)
        yield family.__name__, as_written(kind, fields, r)
    for i in range(IMAGE_COUNT):
        r = Draw(f"{SEED}/image/{i}")
        r.sizes(large=i % 9 == 8)
        kind, fields = vit(r)
        yield "vit", as_written(kind, fields, r)


def record():
    lines = [f"/* Made by tests/oracle/make_family_cases.py with transformers {transformers.__version__} and PEFT "
             f"{peft.__version__}: */", "#ifdef FAMILY_CASE"]
    for family, text in draw_texts():
        model = build(text)
        number, names = count(model), digest(parameters_of(model))
        lines += [f'FAMILY_CASE("{family}",', c_string(text) + ",",
                  f'    {number}, "{names}", "{digest(adapter_of(model))}")']
    lines += ["#endif", "#ifdef MOE_CASE"]
    for i, (kind, fields) in enumerate(MOES):
        r = Draw(f"{SEED}/moe/{i}")
        r.sizes(large=False)
        text = as_written(kind, fields(r), r)
        model = build(text)
        lines += [f'MOE_CASE("{model.config.model_type}",', c_string(text) + ",", f"    {count(model)}, {active(model)})"]
    return "\n".join(lines + ["#endif", ""])


def saved(folder, file):
    with safe_open(pathlib.Path(folder) / file, "pt") as tensors:
        for name in tensors.keys():
            yield name, tuple(tensors.get_slice(name).get_shape())


def verify():
    """What the files of the small models hold is what the digests are of."""
    verified = 0
    for i, (_, text) in enumerate(draw_texts()):
        model = build(text)
        if count(model) > 1000000:
            continue
        with tempfile.TemporaryDirectory() as folder:
            real = build(text, "cpu")
            real.save_pretrained(folder)
            names = [each for each in saved(folder, "model.safetensors") if each[0] != "final_logits_bias"]
            assert lines_of(names) == lines_of(parameters_of(model)), (i, text)
            adapt(real).save_pretrained(folder)
            adapter = saved(folder, "adapter_model.safetensors")
            assert lines_of(adapter) == lines_of(adapter_of(model)), (i, text)
        verified += 1
    print(f"{verified} models and adapters are saved by the names and shapes of the digests")


def main():
    parser = argparse.ArgumentParser(description="Makes tests/model/family_cases.inc.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare with what is there")
    parser.add_argument("--verify", action="store_true", help="save the small models and compare names and shapes")
    parser.add_argument("--print", type=int, metavar="CASE", help="the lines that the digests of a case are of")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    if arguments.verify:
        verify()
    elif arguments.check:
        sys.exit(0 if record() == FILE.read_text() else f"{FILE} differs")
    elif arguments.print is not None:
        text = list(draw_texts())[arguments.print][1]
        model = build(text)
        print(text, b"".join(lines_of(parameters_of(model)) + lines_of(adapter_of(model))).decode(), sep="\n", end="")
    else:
        FILE.write_text(record())


if __name__ == "__main__":
    main()
