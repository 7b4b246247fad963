"""Trains transformers' MarianMTModel on pairs as yoke train does, and saves it beside its tokenizer.

torch_marian.py CONFIG TOKENIZER SOURCE TARGET FOLDER STEPS BATCH_TOKENS RATE WARMUP THREADS

Batches are of pairs of like length, at most BATCH_TOKENS on either side with filling; AdamW with
decay of matrices alone, rate up over WARMUP steps and down with the root of the step, dropout and
smoothing of 0.1, gradients clipped at 1. DEVICE=cuda in the environment trains on a GPU,
SEED=2 from other numbers. Prints the last losses, the time and the device as JSON.
"""

import json
import os
import pathlib
import random
import shutil
import sys
import time

import torch
from tokenizers import Tokenizer
from transformers import MarianConfig, MarianMTModel

sys.path.append(str(pathlib.Path(__file__).parent.parent))
import devices  # noqa: E402

config_path, tokenizer_path, source_path, target_path, folder = sys.argv[1:6]
steps, batch_tokens = int(sys.argv[6]), int(sys.argv[7])
rate, warmup, threads = float(sys.argv[8]), int(sys.argv[9]), int(sys.argv[10])
torch.set_num_threads(threads)
seed = int(os.environ.get("SEED", "1"))
torch.manual_seed(seed)
random.seed(seed)

config = MarianConfig.from_pretrained(config_path)
config.dropout = config.attention_dropout = 0.1
config.activation_dropout = 0.0
device = os.environ.get("DEVICE", "cpu")
model = MarianMTModel(config).to(device)
model.train()
tokenizer = Tokenizer.from_file(tokenizer_path)
end, pad, start = config.eos_token_id, config.pad_token_id, config.decoder_start_token_id


def read(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file]
    return [e.ids + [end] for e in tokenizer.encode_batch(lines, add_special_tokens=False)]


pairs = list(zip(read(source_path), read(target_path)))


def batches():
    """Endless: each epoch sorts shuffled pairs by length, cuts them, and shuffles the pieces."""
    while True:
        random.shuffle(pairs)
        order = sorted(pairs, key=lambda pair: max(len(pair[0]), len(pair[1])) // 2)
        pieces, piece, longest = [], [], 0
        for pair in order:
            wider = max(longest, len(pair[0]), len(pair[1]))
            if piece and wider * (len(piece) + 1) > batch_tokens:
                pieces.append(piece)
                piece, wider = [], max(len(pair[0]), len(pair[1]))
            piece.append(pair)
            longest = wider
        pieces.append(piece)
        random.shuffle(pieces)
        yield from pieces


def fill(rows, filling):
    longest = max(len(row) for row in rows)
    return torch.tensor([row + [filling] * (longest - len(row)) for row in rows],
                        device=device)


matrices = [p for p in model.parameters() if p.requires_grad and p.dim() >= 2]
others = [p for p in model.parameters() if p.requires_grad and p.dim() < 2]
optimizer = torch.optim.AdamW(
    [{"params": matrices, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}],
    lr=rate, betas=(0.9, 0.98), eps=1e-9)
losses, began, tokens = [], time.time(), 0
source = batches()
for step in range(steps):
    piece = next(source)
    inputs = fill([s for s, _ in piece], pad)
    mask = torch.tensor([[1] * len(s) + [0] * (inputs.shape[1] - len(s)) for s, _ in piece],
                        device=device)
    decoder = fill([[start] + t[:-1] for _, t in piece], pad)
    labels = fill([t for _, t in piece], -100)
    for group in optimizer.param_groups:
        done = step + 1
        group["lr"] = rate * min(done / warmup, (warmup / done) ** 0.5)
    logits = model(input_ids=inputs, attention_mask=mask, decoder_input_ids=decoder).logits
    loss = torch.nn.functional.cross_entropy(
        logits.view(-1, logits.shape[-1]), labels.view(-1), ignore_index=-100, label_smoothing=0.1)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    losses.append(loss.item())
    tokens += sum(len(s) + len(t) for s, t in piece)
seconds = time.time() - began
model.save_pretrained(folder)
shutil.copy(tokenizer_path, folder + "/tokenizer.json")
print(json.dumps({"steps": steps, "loss": sum(losses[-50:]) / len(losses[-50:]),
                  "seconds": seconds, "tokens_per_s": tokens / seconds,
                  "device": devices.of_torch(torch, device)}))
