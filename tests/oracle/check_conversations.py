#!/usr/bin/env python3
"""Holds yoke's loss on conversations against transformers', for small random models of several families.

    check_conversations.py YOKE

For each family, a tiny model and the tokenizer and one of the templates of make_conversation_fixtures.py are saved as
transformers saves them. transformers renders the conversations of compare_conversations.py that the template takes,
masks all but what the assistant says, and computes the mean loss over that in fp32; `yoke eval` must say the same to
1e-6.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import torch
from tokenizers import AddedToken
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast
from transformers import GemmaConfig, LlamaConfig, MistralConfig, Phi3Config, Qwen2Config, Qwen3Config

import chat_mask
from compare_conversations import CONVERSATIONS
from make_conversation_fixtures import CONFIG, TEMPLATES, TURNS, expect
from make_instruction_fixtures import make_tokenizer

SIZES = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "max_position_embeddings": 2048, "head_dim": 8, "initializer_range": 0.2}
FAMILIES = {"llama": LlamaConfig, "qwen2": Qwen2Config, "qwen3": Qwen3Config, "gemma": GemmaConfig,
            "mistral": MistralConfig, "phi3": Phi3Config}


def save(folder, family, tokenizer):
    sizes = dict(SIZES)
    if family in ("qwen2", "phi3"):
        del sizes["head_dim"]
    config = FAMILIES[family](vocab_size=tokenizer.get_vocab_size(), pad_token_id=None, bos_token_id=None,
                              eos_token_id=None, **sizes)
    torch.manual_seed(7)
    model = AutoModelForCausalLM.from_config(config).float().eval()
    model.save_pretrained(folder)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=CONFIG["bos_token"],
                                   eos_token=CONFIG["eos_token"]["content"], pad_token=CONFIG["pad_token"]["content"])
    fast.chat_template = TEMPLATES[family]
    fast.save_pretrained(folder)
    return model, fast


def main():
    yoke = sys.argv[1]
    tokenizer = make_tokenizer()
    tokenizer.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in TURNS])
    failed = False
    for family in FAMILIES:
        with tempfile.TemporaryDirectory() as folder:
            model, fast = save(folder, family, tokenizer)
            total, counted, lines = 0.0, 0, []
            for conversation in CONVERSATIONS:
                made = expect(fast, TEMPLATES[family], conversation)
                if "refused" in made:
                    continue
                lines.append(json.dumps(conversation))
                ids = torch.tensor([made["ids"]])
                labels = torch.where(torch.tensor([made["mask"]]) == 1, ids, -100)
                with torch.no_grad():
                    logits = model(ids).logits[0, :-1]
                total += torch.nn.functional.cross_entropy(logits.double(), labels[0, 1:], ignore_index=-100,
                                                           reduction="sum").item()
                counted += int((labels[0, 1:] >= 0).sum())
            data = pathlib.Path(folder) / "messages.jsonl"
            data.write_text("\n".join(lines) + "\n", encoding="utf-8")
            ran = subprocess.run([yoke, "eval", folder, "--data", data, "--seq", "2048", "--batch", "1", "--json"],
                                 check=False, capture_output=True, text=True)
        if ran.returncode != 0:
            sys.exit(f"{family}: {ran.stderr.strip()}")
        said = json.loads(ran.stdout)
        theirs = total / counted
        marks = "by blocks" if chat_mask.has_blocks(TEMPLATES[family]) else "by difference"
        print(f"{family}: {len(lines)} conversations, masks {marks}; transformers {theirs:.9f} over {counted} tokens, "
              f"yoke {said['loss']:.9f} over {said['tokens']}, difference {abs(said['loss'] - theirs):.1e}")
        failed = failed or said["tokens"] != counted or abs(said["loss"] - theirs) > 1e-6
    sys.exit("they differ" if failed else 0)


if __name__ == "__main__":
    main()
