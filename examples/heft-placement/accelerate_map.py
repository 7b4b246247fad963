#!/usr/bin/env python3
"""Prints the device_map.json that Accelerate itself infers for Llama-3-8B in four bits.

    accelerate_map.py 48 24 24      # GiB of each device

The model is built without memory, on the meta device. The map is what
from_pretrained(device_map="auto", quantization_config=BitsAndBytesConfig(load_in_4bit=True)) would use.
"""
import json
import sys

import torch
from accelerate import init_empty_weights
from accelerate.utils import CustomDtype, get_balanced_memory, infer_auto_device_map
from transformers import LlamaConfig, LlamaForCausalLM

GIB = 1 << 30


def main():
    memory = {number: int(float(word) * GIB) for number, word in enumerate(sys.argv[1:])}
    config = LlamaConfig(vocab_size=128256, hidden_size=4096, intermediate_size=14336,
                         num_hidden_layers=32, num_attention_heads=32, num_key_value_heads=8,
                         max_position_embeddings=8192, tie_word_embeddings=False)
    with init_empty_weights():
        model = LlamaForCausalLM(config)
    # The head stays in 16 bits, as bitsandbytes leaves it.
    types = {"dtype": CustomDtype.INT4,
             "special_dtypes": {name: torch.bfloat16 for name, _ in model.named_parameters() if "lm_head" in name}}
    whole = list(model._no_split_modules or [])
    balanced = get_balanced_memory(model, max_memory=memory, no_split_module_classes=whole, **types)
    print(json.dumps(infer_auto_device_map(model, max_memory=balanced, no_split_module_classes=whole, **types), indent=1))


main()
