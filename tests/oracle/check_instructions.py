"""Holds yoke's loss on instructions against transformers and PEFT.

check_instructions.py YOKE FOLDER FILE [ADAPTER]

FOLDER is a model as `yoke weights` writes it, with its tokenizer.json; FILE is JSON lines of
messages; ADAPTER is a folder of one beside that model, which PEFT opens. transformers renders each conversation by Llama 3's template, masks all but what the
assistant says, and computes the mean loss over that; `yoke eval` must say the same.
"""

import json
import subprocess
import sys

import torch
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

TEMPLATE = (
    "{{ '<|begin_of_text|>' }}{% for message in messages %}"
    "{{ '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' }}"
    "{% if message['role'] == 'assistant' %}"
    "{% generation %}{{ message['content'] | trim + '<|eot_id|>' }}{% endgeneration %}"
    "{% else %}{{ message['content'] | trim + '<|eot_id|>' }}{% endif %}{% endfor %}")

yoke, folder, path = sys.argv[1:4]
adapter = sys.argv[4] if len(sys.argv) > 4 else None
tokenizer = PreTrainedTokenizerFast(tokenizer_file=folder + "/tokenizer.json")
tokenizer.chat_template = TEMPLATE
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
if adapter:
    from peft import PeftModel
    model = PeftModel.from_pretrained(model, adapter)
model.eval()

total, counted = 0.0, 0
with open(path, encoding="utf-8") as file, torch.no_grad():
    for line in file:
        chat = tokenizer.apply_chat_template(
            json.loads(line)["messages"], return_dict=True, return_assistant_tokens_mask=True)
        ids = torch.tensor([chat["input_ids"]])
        labels = torch.where(torch.tensor([chat["assistant_masks"]]) == 1, ids, -100)
        logits = model(ids).logits[0, :-1]
        total += torch.nn.functional.cross_entropy(
            logits, labels[0, 1:], ignore_index=-100, reduction="sum").item()
        counted += int((labels[0, 1:] >= 0).sum())

said = json.loads(subprocess.run(
    [yoke, "eval", adapter or folder, "--data", path, "--seq", "128", "--json"]
    + (["--weights", folder] if adapter else []),
    check=True, capture_output=True, text=True).stdout)
theirs = total / counted
print(f"transformers {theirs:.6f} over {counted} tokens, yoke {said['loss']:.6f} over {said['tokens']}")
if said["tokens"] != counted or abs(said["loss"] - theirs) > 1e-4 * theirs:
    sys.exit("they differ")
