#!/usr/bin/env python3
"""Writes tests/tokenizer/bpe_trainer_cases.inc: what Hugging Face's BpeTrainer learns from small texts.

    python tests/oracle/make_bpe_cases.py
"""

import json
import os
import pathlib
import random

os.environ["TOKENIZERS_PARALLELISM"] = "false"

from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

OUTPUT = pathlib.Path(__file__).resolve().parents[1] / "tokenizer" / "bpe_trainer_cases.inc"

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
SPECIALS = {
    "pairs": ["<pad>", "<s>", "</s>"],
    "llama3": [
        "<|begin_of_text|>",
        "<|end_of_text|>",
        "<|start_header_id|>",
        "<|end_header_id|>",
        "<|eot_id|>",
        "<|finetune_right_pad_id|>",
    ],
    "bert": ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
    "none": [],
}


def sentences(drawn, count):
    words = "the a ox yoke field plough pulls pulled pulling strong stronger two unequal it's don't we'll".split()
    words += "1 12 2024 3.14 한국어 문장 größer Straße naïve 中文 字符 Привет привет 😀 (see) — x_y foo::bar".split()
    return " ".join(drawn.choice(words) + drawn.choice(["", "", "", ",", ".\n", ".\n\n", "\t", "  "]) for _ in range(count))


def runs(drawn, count):
    kinds = ["-", "=", " ", "a", "ab", "\n", "\t", ".", "é", "한"]
    return "".join(drawn.choice(kinds) * drawn.randrange(1, 30) for _ in range(count))


def learn(style, tokens, least, specials, text):
    tokenizer = Tokenizer(models.BPE())
    if style == "llama3":
        split = pre_tokenizers.Split(Regex(LLAMA3), "isolated")
        words = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, words])
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=tokens,
        min_frequency=least,
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([text], trainer)
    return json.loads(tokenizer.to_str())["model"]


def quoted(text):
    shown = ""
    for byte in text.encode():
        plain = 0x20 <= byte < 0x7F and chr(byte) not in '"\\?'
        shown += chr(byte) if plain else "\\%03o" % byte
    # Lines that editors bear; octal escapes have three digits, so that none is cut.
    pieces, piece = [], ""
    i = 0
    while i < len(shown):
        step = 4 if shown[i] == "\\" else 1
        piece += shown[i : i + step]
        i += step
        if len(piece) > 88:
            pieces.append(piece)
            piece = ""
    pieces.append(piece)
    return "\n    ".join('"%s"' % piece for piece in pieces)


def main():
    drawn = random.Random(11)
    usual = sentences(drawn, 400)
    repeated = runs(drawn, 150)
    letters = " ".join("".join(drawn.choice("abc") for _ in range(drawn.randrange(1, 12))) for _ in range(250))
    cases = [
        ("pairs", 500, 0, None, usual),
        ("pairs", 5000, 2, None, usual),
        ("llama3", 500, 2, None, usual),
        ("pairs", 450, 0, None, repeated),
        ("llama3", 5000, 2, None, repeated),
        ("none", 420, 0, None, letters),
        # Pairs that become a special token, and a byte's letter that is one.
        ("none", 330, 0, ["ab", "abc", "b", "cc"], letters),
    ]
    lines = ["/* Written by tests/oracle/make_bpe_cases.py. clang-format off */"]
    for style, tokens, least, specials, text in cases:
        names = SPECIALS[style] if specials is None else specials
        model = learn(style, tokens, least, names, text)
        listed = sorted(model["vocab"], key=model["vocab"].get)
        merges = "".join("%s %s\n" % tuple(merge) for merge in model["merges"])
        lines.append("{%s, %d, %d," % (quoted(style), tokens, least))
        lines.append("    (const char *const[]){%s}, %d," % (", ".join([quoted(n) for n in names] + ["NULL"]), len(names)))
        lines.append("    %s," % quoted(text))
        lines.append("    %s," % quoted("".join(token + "\n" for token in listed)))
        lines.append("    %s}," % quoted(merges))
    OUTPUT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
