#!/usr/bin/env python3
"""Makes tests/tokenizer/fixtures/formats: tokenizers in files other than tokenizer.json, and their ids of some texts.

Each folder is a tokenizer. Models of SentencePiece are trained here, on texts that this script makes up:

    unigram, unigram-bytes, unigram-rules   byte fallback; rules of normalization (full-width letters, ligatures)
    bpe, bpe-bytes, bpe-spaces              byte fallback; spaces are kept and none is added
    characters, words                       models of characters and of words
    symbols                                 user-defined and control symbols

The ids of these are those of sentencepiece itself. The others have a tokenizer_config.json, and their ids are those of
transformers, special tokens included:

    llama, llama-first   begin and end; a space before every part of a text, or only before the first
    t5, xlmr, camembert  the same unigram, as three classes number it
    gpt2, roberta, bert  vocab.json and merges.txt, vocab.txt, made of what tokenizers learn
    qwen2, clip          other words; other ends of words

cases.json has [text, ids, decoded] for each text. Left out are texts for which transformers and sentencepiece are known
to differ (src/tokenizer/formats/sentencepiece_json.h), and of texts with unknown tokens what they are decoded to.

    make_sentencepiece_fixtures.py FOLDER
"""
import argparse
import json
import pathlib
import random
import shutil
import tempfile

import sentencepiece
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from make_tokenizer_fixtures import SAMPLES, WORDS

RULES = {"ﬁ": "fi", "ﬀ": "ff", "\t": " ", "\n": " ", "\u3000": " ", "\u00a0": " ", "ß": "ss", "…": "...", "™": "TM"}
RULES.update({chr(0xff01 + i): chr(0x21 + i) for i in range(94)})
PIECES = ["  ", "   ", "a", "Z", "0", "12", "3.5", "!", "...", "\t", "\n", "é", "ß", "ﬁ", "ＡＢ", "…", "日本", "語", "Привет", "😀",
          "\u0301", "\u3000", "don't", "x_1", "<tag>", "#", "—", "ȧ", "\u2028", "\x01", "\U0010fffd"]
CLASSES = {
    "llama": ("LlamaTokenizer", "bpe-bytes", "tokenizer.model", {"add_bos_token": True, "add_eos_token": True, "legacy": True}),
    "llama-first": ("LlamaTokenizer", "bpe-bytes", "tokenizer.model", {"add_bos_token": True, "legacy": False}),
    "t5": ("T5Tokenizer", "unigram-t5", "spiece.model", {"extra_ids": 4}),
    "xlmr": ("XLMRobertaTokenizer", "unigram-rules", "sentencepiece.bpe.model", {}),
    "camembert": ("CamembertTokenizer", "unigram-rules", "sentencepiece.bpe.model", {}),
}
COMMON = {"vocab_size": 160, "hard_vocab_limit": False, "num_threads": 1, "minloglevel": 2, "character_coverage": 0.98}
MODELS = {
    "unigram": {"model_type": "unigram", "normalization_rule_name": "identity"},
    "unigram-bytes": {"model_type": "unigram", "normalization_rule_name": "identity", "byte_fallback": True, "vocab_size": 380},
    "unigram-rules": {"model_type": "unigram", "normalization_rule_tsv": True},
    "unigram-t5": {"model_type": "unigram", "normalization_rule_tsv": True, "pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1},
    "bpe": {"model_type": "bpe", "normalization_rule_name": "identity"},
    "bpe-bytes": {"model_type": "bpe", "normalization_rule_name": "identity", "byte_fallback": True, "vocab_size": 420,
                  "remove_extra_whitespaces": False, "split_digits": True},
    "bpe-spaces": {"model_type": "bpe", "normalization_rule_name": "identity", "remove_extra_whitespaces": False,
                   "add_dummy_prefix": False, "user_defined_symbols": ["▁▁", "▁▁▁▁"]},
    "characters": {"model_type": "char", "normalization_rule_name": "identity", "vocab_size": 90},
    "words": {"model_type": "word", "normalization_rule_name": "identity", "vocab_size": 150},
    "symbols": {"model_type": "unigram", "normalization_rule_name": "identity", "user_defined_symbols": ["<tag>", "x_1"],
                "control_symbols": ["<ctl>"], "pad_id": 3},
}


def make_texts():
    texts = ["", " ", "  ", "a", " a", "a ", "  two  spaces  ", "tab\tand\nline", "Hello, world!"]
    for _ in range(40):
        parts = random.choices(WORDS, k=random.randint(1, 5)) + random.choices(PIECES, k=random.randint(0, 3))
        random.shuffle(parts)
        texts.append(random.choice(("", " ")).join(parts) if random.random() < .3 else " ".join(parts))
    return texts + SAMPLES[::4]


def train(name, folder):
    options = {**COMMON, **MODELS[name]}
    lines = [" ".join(random.choices(WORDS, k=12)) for _ in range(300)] + SAMPLES[:6] * 4
    (folder / "text").write_text("\n".join(lines))
    if options.pop("normalization_rule_tsv", False):
        rules = "".join(f"{' '.join(f'{ord(c):X}' for c in a)}\t{' '.join(f'{ord(c):X}' for c in b)}\n" for a, b in RULES.items())
        (folder / "rules.tsv").write_text(rules)
        options["normalization_rule_tsv"] = str(folder / "rules.tsv")
    sentencepiece.SentencePieceTrainer.train(input=str(folder / "text"), model_prefix=str(folder / name), **options)
    return folder / f"{name}.model"


def write_cases(folder, cases):
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    (folder / "cases.json").write_text(f'{{"cases": [\n{lines}\n]}}\n')



def sentencepiece_cases(name, model, texts):
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    for text in texts:
        ids = processor.encode(text)
        if name == "words" and processor.unk_id() in ids and unknown_run(processor, text):
            continue
        yield [text, ids, None if processor.unk_id() in ids else processor.decode(ids)]


def unknown_run(processor, text):
    """Whether two words that follow each other are unknown, which sentencepiece makes one token of."""
    unknown = [processor.unk_id() in processor.encode(word) for word in text.split(" ") if word]
    return any(a and b for a, b in zip(unknown, unknown[1:]))


def transformers_cases(cls, folder, texts):
    tokenizer = getattr(transformers, cls).from_pretrained(folder).backend_tokenizer
    special = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
    unknown = {tokenizer.token_to_id(name) for name in ("<unk>", "[UNK]")}
    # transformers 5 add no second space to a part of a text that begins with one; sentencepiece does.
    space = "" if cls == "LlamaTokenizer" else " "
    for text in texts + [f"{a}{token}{b}" for token in special for a, b in (("", ""), ("the" + space, space + "time"))]:
        ids = tokenizer.encode(text).ids
        yield [text, ids, None if unknown & set(ids) else tokenizer.decode(ids, skip_special_tokens=False)]


def plain(text):
    """Where transformers do with spaces what sentencepiece does."""
    return text == " ".join(text.split()) and "\u2028" not in text


def make_vocabularies(folder, texts):
    """Files of GPT-2, BERT, Qwen 2 and CLIP."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    corpus = [" ".join(random.choices(WORDS, k=12)) for _ in range(200)]
    for name, cls, special in (("gpt2", "GPT2Tokenizer", ["<|endoftext|>"]),
                               ("roberta", "RobertaTokenizer", ["<s>", "<pad>", "</s>", "<unk>", "<mask>"])):
        bpe.train_from_iterator(corpus, trainers.BpeTrainer(
            vocab_size=330, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
        target = folder / name
        target.mkdir()
        bpe.model.save(str(target))
        yield target, cls, {"mask_token": {"content": "<mask>", "lstrip": True, "__type": "AddedToken"}} if name == "roberta" else {}
    bert = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    bert.normalizer, bert.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    bert.train_from_iterator(corpus + SAMPLES[:4], trainers.WordPieceTrainer(
        vocab_size=200, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False))
    target = folder / "bert"
    target.mkdir()
    bert.model.save(str(target))
    yield target, "BertTokenizer", {}
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    for name, cls, suffix, special in (("qwen2", "Qwen2Tokenizer", "", ["<|endoftext|>"]),
                                       ("clip", "CLIPTokenizer", "</w>", ["<|startoftext|>", "<|endoftext|>"])):
        bpe = Tokenizer(models.BPE(end_of_word_suffix=suffix))
        bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        bpe.train_from_iterator(corpus, trainers.BpeTrainer(
            vocab_size=600, special_tokens=special, end_of_word_suffix=suffix, show_progress=False,
            initial_alphabet=alphabet))
        target = folder / name
        target.mkdir()
        bpe.model.save(str(target))
        yield target, cls, {}


def main():
    parser = argparse.ArgumentParser(description="Makes tokenizers in older formats, and their ids.")
    parser.add_argument("folder", type=pathlib.Path, help="tests/tokenizer/fixtures/formats")
    folder = parser.parse_args().folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    random.seed(28)
    texts = make_texts()
    with tempfile.TemporaryDirectory() as scratch:
        trained = {name: train(name, pathlib.Path(scratch)) for name in MODELS}
        for name, model in trained.items():
            if name == "unigram-t5":
                continue
            (folder / name).mkdir()
            shutil.copy(model, folder / name / "tokenizer.model")
            write_cases(folder / name, sentencepiece_cases(name, model, texts))
        for name, (cls, model, file, config) in CLASSES.items():
            target = folder / name
            target.mkdir()
            shutil.copy(trained[model], target / file)
            (target / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": cls, **config}) + "\n")
            write_cases(target, transformers_cases(cls, target, [text for text in texts if plain(text)]))
    for target, cls, config in make_vocabularies(folder, texts):
        (target / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": cls, **config}) + "\n")
        write_cases(target, transformers_cases(cls, target, texts))


main()
