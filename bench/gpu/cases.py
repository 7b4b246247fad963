"""The cases of bench/gpu: which model on which batch, in one place for yoke and PyTorch.

A case whose name begins with "tiny" is of no interest as a measurement: it lets the scripts be
tried on a machine without a GPU.
"""
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    name: str
    family: str  # gpt, llama, translation, bert
    sizes: dict  # layers, heads, width, inner, vocabulary, positions; llama: kv_heads
    batch: int = 0  # samples
    sequence: int = 0  # tokens of a sample
    batch_tokens: int = 0  # translation: tokens of a side, filling included
    lora_rank: int = 0
    lora_alpha: int = 0
    torch_of: str = ""  # PyTorch runs that case in its place
    most_rounds: int = 4  # fewer where a model takes long to load
    yoke_options: tuple = field(default=())


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

CASES = {case.name: case for case in (
    Case("gpt2-16", "gpt", GPT2, 16, 1024),
    Case("gpt2-64", "gpt", GPT2, 64, 1024),
    Case("llama-lora", "llama", LLAMA3_8B, 5, 512, lora_rank=32, lora_alpha=32, most_rounds=1),
    Case("llama-nf4", "llama", LLAMA3_8B, 5, 512, lora_rank=32, lora_alpha=32, most_rounds=1,
         torch_of="llama-lora", yoke_options=("--nf4",)),
    Case("transformer-base", "translation", BASE, batch_tokens=25000),
    Case("transformer-big", "translation", BIG, batch_tokens=25000),
    Case("bert-large", "bert", BERT_LARGE, 32, 512),
    Case("tiny-gpt", "gpt", TINY, 4, 64),
    Case("tiny-llama", "llama", TINY_LLAMA, 3, 64, lora_rank=4, lora_alpha=4),
    Case("tiny-nf4", "llama", TINY_LLAMA, 3, 64, lora_rank=4, lora_alpha=4,
         torch_of="tiny-llama", yoke_options=("--nf4",)),
    Case("tiny-translation", "translation", TINY, batch_tokens=1000),
    Case("tiny-bert", "bert", TINY, 4, 64),
)}
USUAL = [name for name in CASES if not name.startswith("tiny")]


def config_of(case):
    """The model as Hugging Face's config.json says it."""
    sizes = case.sizes
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
