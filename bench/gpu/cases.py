"""The cases of bench/gpu: which model on which batch, in one place for yoke and PyTorch.

A case whose name begins with "tiny" is of no interest as a measurement: it lets the scripts be
tried on a machine without a GPU.
"""
import json
import os
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "../../src/model/builtin/models.json")


@dataclass(frozen=True)
class Case:
    name: str
    family: str  # gpt, llama, translation, bert, causal (any decoder of transformers), vit
    sizes: dict  # layers, heads, width, inner, vocabulary, positions; llama: kv_heads
    batch: int = 0  # samples
    sequence: int = 0  # tokens of a sample
    batch_tokens: int = 0  # translation: tokens of a side, filling included
    lora_rank: int = 0
    lora_alpha: int = 0
    torch_of: str = ""  # PyTorch runs that case in its place
    most_rounds: int = 4  # fewer where a model takes long to load
    yoke_options: tuple = field(default=())
    config: dict = field(default_factory=dict)  # causal, vit: Hugging Face's config.json
    torch_runs: bool = True  # False: only yoke; its weights are then made up by itself
    published: str = ""  # what others report, printed below

    @property
    def of_transformers(self):
        """PyTorch's side is a model of transformers, and both sides begin with the same weights."""
        return self.family in ("causal", "vit")

    @property
    def unit(self):
        """What is counted."""
        return "image" if self.family == "vit" else "token"


def transformer_sizes(layers, heads, width, inner, vocabulary, positions, kv_heads=0):
    return {
        "layers": layers, "heads": heads, "kv_heads": kv_heads or heads, "width": width,
        "inner": inner, "vocabulary": vocabulary, "positions": positions,
    }


GPT2 = transformer_sizes(12, 12, 768, 3072, 50257, 1024)
LLAMA3_8B = transformer_sizes(32, 32, 4096, 14336, 128256, 8192, kv_heads=8)
BASE = transformer_sizes(6, 8, 512, 2048, 37000, 1024)  # blocks on either side
BIG = transformer_sizes(6, 16, 1024, 4096, 37000, 1024)
BERT_LARGE = transformer_sizes(24, 16, 1024, 4096, 30522, 512)
TINY = transformer_sizes(2, 4, 64, 256, 500, 128)
TINY_LLAMA = transformer_sizes(2, 4, 64, 192, 500, 128, kv_heads=2)

def builtin_config(name):
    """Of a model that yoke has built in; transformers completes it by the same defaults."""
    with open(MODELS, encoding="utf-8") as file:
        return next(model["config"] for model in json.load(file) if model["name"] == name)


def causal(name, config, batch, sequence=1024, **more):
    heads = config["num_attention_heads"]
    sizes = transformer_sizes(
        config["num_hidden_layers"], heads, config["hidden_size"], config["intermediate_size"],
        config["vocab_size"], config["max_position_embeddings"], config["num_key_value_heads"])
    sizes["head_width"] = config.get("head_dim", config["hidden_size"] // heads)
    return Case(name, "causal", sizes, batch, sequence, config=config, **more)


def images(name, config, batch, **more):
    """An image is as many tokens as it has patches, and one more."""
    side, patch = config["image_size"], config["patch_size"]
    length = (side // patch) ** 2 + 1
    sizes = transformer_sizes(
        config["num_hidden_layers"], config["num_attention_heads"], config["hidden_size"],
        config["intermediate_size"], len(config["id2label"]), length)
    return Case(name, "vit", sizes, batch, length, config=config, **more)


def vit_config(layers, heads, width, side=224, patch=16, classes=256):
    """Labels of IDX files are bytes."""
    return {"model_type": "vit", "architectures": ["ViTForImageClassification"],
            "num_hidden_layers": layers, "num_attention_heads": heads, "hidden_size": width,
            "intermediate_size": 4 * width, "image_size": side, "patch_size": patch,
            "num_channels": 3, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0,
            "id2label": {str(number): str(number) for number in range(classes)}}


def tiny_config(model):
    """The same kind of model with little in it."""
    small = {"vocab_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4,
             "hidden_size": 64, "intermediate_size": 192, "num_key_value_heads": 2,
             "max_position_embeddings": 128, "bos_token_id": 1, "eos_token_id": 2}
    config = builtin_config(model)
    return config | small | ({"head_dim": 32} if "head_dim" in config else {})


def llm_q(tokens_per_s):
    return f"LLM.Q, bf16, published, on one H100: {tokens_per_s} tokens/s"


CASES = {case.name: case for case in (
    Case("gpt2-16", "gpt", GPT2, 16, 1024),
    Case("gpt2-64", "gpt", GPT2, 64, 1024),
    Case("llama-lora", "llama", LLAMA3_8B, 5, 512, lora_rank=32, lora_alpha=32, most_rounds=1),
    Case("llama-nf4", "llama", LLAMA3_8B, 5, 512, lora_rank=32, lora_alpha=32, most_rounds=1,
         torch_of="llama-lora", yoke_options=("--nf4",)),
    Case("transformer-base", "translation", BASE, batch_tokens=25000),
    Case("transformer-big", "translation", BIG, batch_tokens=25000),
    Case("bert-large", "bert", BERT_LARGE, 32, 512),
    causal("qwen3-8b-lora", builtin_config("qwen3-8b"), 8, lora_rank=16, lora_alpha=32,
           most_rounds=2),
    causal("gemma2-2b-lora", builtin_config("gemma2-2b"), 16, lora_rank=16, lora_alpha=32,
           most_rounds=2),
    causal("qwen2.5-0.5b", builtin_config("qwen2.5-0.5b"), 32, most_rounds=2,
           published=llm_q("149,000")),
    causal("qwen2.5-1.5b", builtin_config("qwen2.5-1.5b"), 16, most_rounds=2,
           published=llm_q("59,000")),
    causal("qwen2.5-7b", builtin_config("qwen2.5-7b"), 32, most_rounds=1, torch_runs=False,
           published=llm_q("13,800")),
    images("vit-b16", vit_config(12, 12, 768), 256),
    images("vit-b16-128", vit_config(12, 12, 768), 128),
    Case("tiny-gpt", "gpt", TINY, 4, 64),
    Case("tiny-llama", "llama", TINY_LLAMA, 3, 64, lora_rank=4, lora_alpha=4),
    Case("tiny-nf4", "llama", TINY_LLAMA, 3, 64, lora_rank=4, lora_alpha=4,
         torch_of="tiny-llama", yoke_options=("--nf4",)),
    Case("tiny-translation", "translation", TINY, batch_tokens=1000),
    Case("tiny-bert", "bert", TINY, 4, 64),
    causal("tiny-qwen3", tiny_config("qwen3-8b"), 3, 64, lora_rank=4, lora_alpha=8),
    causal("tiny-gemma2", tiny_config("gemma2-2b"), 3, 64, lora_rank=4, lora_alpha=8),
    causal("tiny-qwen2.5", tiny_config("qwen2.5-0.5b"), 3, 64, published=llm_q("149,000")),
    images("tiny-vit", vit_config(2, 4, 64, side=32, patch=8, classes=10), 8),
    causal("tiny-alone", tiny_config("qwen2.5-7b"), 4, 64, torch_runs=False),
)}
GROUPS = {"qwen2.5-full": ["qwen2.5-0.5b", "qwen2.5-1.5b", "qwen2.5-7b"]}
USUAL = [name for name, case in CASES.items()
         if not name.startswith("tiny") and not case.of_transformers]


def config_of(case):
    """The model as Hugging Face's config.json says it."""
    sizes = case.sizes
    if case.of_transformers:
        return case.config
    if case.family == "gpt":
        return {"model_type": "gpt2", "vocab_size": sizes["vocabulary"],
                "n_positions": sizes["positions"], "n_embd": sizes["width"],
                "n_layer": sizes["layers"], "n_head": sizes["heads"], "n_inner": sizes["inner"],
                "tie_word_embeddings": True}
    if case.family == "translation":
        config = {"model_type": "marian", "architectures": ["MarianMTModel"],
                  "vocab_size": sizes["vocabulary"], "d_model": sizes["width"],
                  "max_position_embeddings": sizes["positions"], "activation_function": "relu",
                  "scale_embedding": True, "init_std": 0.02, "tie_word_embeddings": True,
                  "share_encoder_decoder_embeddings": True}
        for side in ("encoder", "decoder"):
            config |= {f"{side}_layers": sizes["layers"], f"{side}_ffn_dim": sizes["inner"],
                       f"{side}_attention_heads": sizes["heads"]}
        return config
    config = {"vocab_size": sizes["vocabulary"], "hidden_size": sizes["width"],
              "intermediate_size": sizes["inner"], "num_hidden_layers": sizes["layers"],
              "num_attention_heads": sizes["heads"],
              "max_position_embeddings": sizes["positions"]}
    if case.family == "bert":
        return config | {"model_type": "bert", "architectures": ["BertForMaskedLM"]}
    return config | {"model_type": "llama", "architectures": ["LlamaForCausalLM"],
                     "num_key_value_heads": sizes["kv_heads"], "rms_norm_eps": 1e-5,
                     "rope_theta": 500000.0, "tie_word_embeddings": False}
