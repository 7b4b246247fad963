#!/usr/bin/env python3
"""Writes tokenizers of every kind of component, and what Hugging Face's tokenizers make of some texts.

Each NAME.json in FOLDER is a small tokenizer.json, and NAME.cases holds texts in the form that
make_tokenizer_fixtures.py describes, with one field more: the spans of the tokens, in bytes,
"begin-end" in base 36, or "end" alone where a token begins where the one before ended.

The library's trainers break ties by the order of hash tables, which is another in each run. This
script therefore learns the vocabularies itself; two runs write the same files.

    make_component_cases.py FOLDER [--strings N] [--seed S]
"""

import argparse
import collections
import json
import math
import pathlib
import random

from make_tokenizer_fixtures import PIECES, SAMPLES, WORDS, base36, escape, find_frame, join, make_text
from tokenizers import AddedToken, Regex, Tokenizer
from tokenizers import decoders as D
from tokenizers import models
from tokenizers import normalizers as N
from tokenizers import pre_tokenizers as P
from tokenizers import processors as R

MARKED = "▁"


def make_map(pairs):
    """A precompiled map as SentencePiece writes it: a double array of the keys, then the replacements."""
    keys = {key.encode(): value.encode() for key, value in pairs.items()}
    texts = b""
    units = {0: 0}
    used = {0}

    def place(prefix, node):
        nonlocal texts
        labels = sorted({key[len(prefix)] for key in keys if key.startswith(prefix) and len(key) > len(prefix)})
        leaf = prefix in keys
        wanted = ([0] if leaf else []) + labels
        base = 1
        while any(((node ^ base) ^ label) in used for label in wanted):
            base += 1
        units[node] |= base << 10
        for label in wanted:
            used.add((node ^ base) ^ label)
        if leaf:
            units[node] |= 1 << 8
            units[node ^ base] = (1 << 31) | len(texts)
            texts += keys[prefix] + b"\0"
        for label in labels:
            units[(node ^ base) ^ label] = label
        for label in labels:
            place(prefix + bytes([label]), (node ^ base) ^ label)

    place(b"", 0)
    trie = b"".join(units.get(i, 0).to_bytes(4, "little") for i in range(max(units) + 257))
    return len(trie).to_bytes(4, "little") + trie + texts


CHARACTER_MAP = make_map({
    "ﬁ": "fi", "½": "1⁄2", "①": "1", "\u00a0": " ", "\u3000": " ", "\t": " ", "\n": " ", "\u200b": "", "\u0007": "", "Å": "A",
    "e\u0301": "é", "a\u0308": "ä", "ｶﾞ": "ガ", "ｶ": "カ", "…": "...", "２": "2", "Ⅷ": "VIII", "\r\n": "|",
})


def texts_to_learn(rng):
    for _ in range(60):
        yield " ".join(rng.choice(WORDS) for _ in range(8))
    yield from SAMPLES
    yield " ".join(PIECES)


def count_words(tokenizer, texts):
    """How often each word occurs, as the tokenizer cuts it."""
    counts = collections.Counter()
    for text in texts:
        text = tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer else text
        words = tokenizer.pre_tokenizer.pre_tokenize_str(text) if tokenizer.pre_tokenizer else [(text, None)]
        counts.update(word for word, _ in words)
    return counts


def most_common(counts, count=None):
    """The keys of the largest counts; of equal ones, the smallest first."""
    return sorted(counts, key=lambda key: (-counts[key], key))[:count]


def count_characters(words):
    characters = collections.Counter()
    for word, times in words.items():
        for character in word:
            characters[character] += times
    return characters


def merge_pair(tokens, pair, merged):
    out = []
    for token in tokens:
        if out and (out[-1], token) == pair:
            out[-1] = merged
        else:
            out.append(token)
    return out


def learn_merges(words, size, special, alphabet, prefix="", suffix=""):
    """The vocabulary and merges of byte-pair encoding. Tokens inside a word have a prefix, the last has a suffix."""
    known = set(alphabet)
    split = {}
    for word in sorted(words):
        letters = [letter for letter in word if letter in known]
        split[word] = [(prefix if i else "") + letter + (suffix if i + 1 == len(letters) else "") for i, letter in enumerate(letters)]
    tokens = list(dict.fromkeys([*special, *sorted(known), *sorted({token for parts in split.values() for token in parts})]))
    merges = []
    while len(tokens) < size:
        pairs = collections.Counter()
        for word, parts in split.items():
            for pair in zip(parts, parts[1:]):
                pairs[pair] += words[word]
        if not pairs:
            break
        pair = most_common(pairs, 1)[0]
        merged = pair[0] + pair[1].removeprefix(prefix)
        merges.append(pair)
        if merged not in tokens:
            tokens.append(merged)
        split = {word: merge_pair(parts, pair, merged) for word, parts in split.items()}
    return {token: i for i, token in enumerate(tokens)}, merges


def bpe(size, special=(), alphabet=120, bytes_=False, **options):
    affixes = [options.get(key, "") for key in ("continuing_subword_prefix", "end_of_word_suffix")]

    def learn(words):
        letters = count_characters(words)
        letters.update(dict.fromkeys(P.ByteLevel.alphabet() if bytes_ else [], 0))
        vocabulary, merges = learn_merges(words, size, special, most_common(letters, alphabet), *affixes)
        return models.BPE(vocabulary, merges, **options)

    return Tokenizer(models.BPE(**options)), learn, special


def unigram(size=760, longest=8):
    special = ["<unk>", "<s>"]

    def learn(words):
        parts = collections.Counter()
        for word, times in words.items():
            for begin in range(len(word)):
                for end in range(begin + 2, min(begin + longest, len(word)) + 1):
                    parts[word[begin:end]] += times
        letters = count_characters(words)
        gains = {part: times * len(part) for part, times in parts.items() if times > 1}
        counts = {**letters, **{part: parts[part] for part in most_common(gains, size - len(letters) - len(special))}}
        total = sum(counts.values())
        scores = [(token, round(math.log(counts[token] / total), 3)) for token in most_common(counts)]
        return models.Unigram([(name, 0.0) for name in special] + scores, unk_id=0)

    return Tokenizer(models.Unigram()), learn, special


BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def llama2():
    tokenizer, learn, special = bpe(640, ["<unk>", "<s>", "</s>"] + BYTES, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    tokenizer.normalizer = N.Sequence([N.Prepend(MARKED), N.Replace(" ", MARKED)])
    tokenizer.decoder = D.Sequence([D.Replace(MARKED, " "), D.ByteFallback(), D.Fuse(), D.Strip(" ", 1, 0)])
    return tokenizer, learn, special, R.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)]), []


def mistral():
    tokenizer, learn, special = bpe(560, ["<unk>"] + BYTES[:128], unk_token="<unk>", byte_fallback=True)
    tokenizer.pre_tokenizer = P.Metaspace(MARKED, "first", False)
    tokenizer.decoder = D.Metaspace(MARKED, "first")
    return tokenizer, learn, special, None, [AddedToken("[INST]", normalized=False), AddedToken("world", rstrip=True)]


def gemma():
    tokenizer, learn, special = bpe(300, ["<unk>"], unk_token="<unk>", ignore_merges=True)
    tokenizer.normalizer = N.Replace(" ", MARKED)
    tokenizer.pre_tokenizer = P.Split(" ", "merged_with_previous")
    return tokenizer, learn, special, None, [AddedToken("<eos>", special=True)]


def affixes():
    tokenizer, learn, special = bpe(400, ["<unk>"], unk_token="<unk>", fuse_unk=True, continuing_subword_prefix="##", end_of_word_suffix="</w>")
    tokenizer.normalizer = N.Sequence([N.NFD(), N.StripAccents(), N.Strip(left=True, right=False)])
    tokenizer.pre_tokenizer = P.Sequence([P.Whitespace(), P.Digits(individual_digits=True)])
    tokenizer.decoder = D.BPEDecoder("</w>")
    return tokenizer, learn, special, None, []


def clip():
    tokenizer, learn, special = bpe(620, bytes_=True, end_of_word_suffix="</w>")
    tokenizer.normalizer = N.Sequence([N.NFC(), N.Replace(Regex(r"\s+"), " "), N.Lowercase()])
    split = P.Split(Regex(r"'s|'t|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"), "removed", invert=True)
    tokenizer.pre_tokenizer = P.Sequence([split, P.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = D.Sequence([D.ByteLevel(), D.Replace("</w>", " ")])
    return tokenizer, learn, special, R.RobertaProcessing(("y", 1), ("x", 2), trim_offsets=False), []


def roberta():
    tokenizer, learn, special = bpe(340, bytes_=True)
    tokenizer.pre_tokenizer = P.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = D.ByteLevel()
    return tokenizer, learn, special, R.RobertaProcessing(("y", 1), ("x", 2)), [AddedToken("<mask>", lstrip=True, special=True)]


def byte_text():
    tokenizer, learn, special = bpe(380, bytes_=True)
    tokenizer.normalizer = N.ByteLevel()
    tokenizer.pre_tokenizer = P.Sequence([P.FixedLength(7), P.Split(Regex("Ġ"), "merged_with_next")])
    tokenizer.decoder = D.ByteLevel()
    return tokenizer, learn, special, R.ByteLevel(trim_offsets=True, add_prefix_space=False), [AddedToken("naïve")]


def byte_level_inside():
    tokenizer, learn, special = bpe(380, ["?"], unk_token="?", alphabet=40)
    tokenizer.pre_tokenizer = P.Sequence([P.ByteLevel(add_prefix_space=True, use_regex=False), P.Punctuation("contiguous")])
    return tokenizer, learn, special, R.Sequence([R.ByteLevel(trim_offsets=True)]), []


def t5():
    tokenizer, learn, special = unigram()
    tokenizer.normalizer = N.Precompiled(CHARACTER_MAP)
    tokenizer.pre_tokenizer = P.Sequence([P.WhitespaceSplit(), P.Metaspace(MARKED, "always", True)])
    tokenizer.decoder = D.Metaspace(MARKED, "always")
    return tokenizer, learn, special, R.TemplateProcessing(single="$A <s>", pair="$A $B", special_tokens=[("<s>", 1)]), [AddedToken("<extra>", special=True)]


def xlm():
    tokenizer, learn, special = unigram()
    tokenizer.normalizer = N.Sequence([N.Nmt(), N.NFKC(), N.Replace(Regex(" {2,}"), " "), N.Strip(left=False, right=True)])
    tokenizer.pre_tokenizer = P.Metaspace(MARKED, "first", True)
    tokenizer.decoder = D.Sequence([D.ByteFallback(), D.Metaspace(MARKED, "first")])
    return tokenizer, learn, special, R.ByteLevel(trim_offsets=True), [AddedToken("Straße", single_word=True), AddedToken("<s>", special=True, lstrip=True)]


def scripts():
    tokenizer, learn, special = unigram()
    tokenizer.normalizer = N.NFKD()
    tokenizer.pre_tokenizer = P.Sequence([P.UnicodeScripts(), P.Digits()])
    tokenizer.decoder = D.CTC("<unk>", "|", True)
    return tokenizer, learn, special, None, []


def bert():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=12))
    tokenizer.normalizer = N.BertNormalizer(clean_text=False, handle_chinese_chars=True, strip_accents=True, lowercase=False)
    tokenizer.pre_tokenizer = P.BertPreTokenizer()
    tokenizer.decoder = D.WordPiece("##", False)
    special = ["[UNK]", "[CLS]"]

    def learn(words):
        vocabulary, _ = learn_merges(words, 420, special, most_common(count_characters(words), 100), "##")
        return models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=12)

    return tokenizer, learn, special, R.BertProcessing(("x", 1), ("y", 0)), [AddedToken("[CLS]", special=True, rstrip=True)]


def words():
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.normalizer = N.BertNormalizer(clean_text=True, strip_accents=False, lowercase=True)
    tokenizer.pre_tokenizer = P.Sequence([P.CharDelimiterSplit(" "), P.Punctuation("removed")])
    tokenizer.decoder = D.Fuse()
    special = ["<unk>"]

    def learn(words):
        return models.WordLevel({word: i for i, word in enumerate(special + most_common(words, 219))}, unk_token="<unk>")

    return tokenizer, learn, special, None, [AddedToken(" the", lstrip=True)]


def splits(behavior):
    def make():
        tokenizer, learn, special = bpe(220, ["<unk>"], unk_token="<unk>", alphabet=80)
        steps = [P.Split(Regex(r"\s+|[aeiou]"), behavior), P.Split(Regex(r"[a-z]{3}|(?=\d)"), behavior, invert=True), P.Punctuation(behavior), P.Split("th", behavior)]
        tokenizer.pre_tokenizer = P.Sequence(steps)
        return tokenizer, learn, special, None, []
    return make


MAKERS = {
    "llama2": llama2, "mistral": mistral, "gemma": gemma, "affixes": affixes, "clip": clip, "roberta": roberta, "byte_text": byte_text,
    "byte_level_inside": byte_level_inside, "t5": t5, "xlm": xlm, "scripts": scripts, "wordpiece": bert, "words": words,
    "merged_with_previous": splits("merged_with_previous"), "merged_with_next": splits("merged_with_next"), "contiguous": splits("contiguous"),
}


def make_tokenizer(name, rng):
    tokenizer, learn, special, processor, added = MAKERS[name]()
    tokenizer.model = learn(count_words(tokenizer, texts_to_learn(rng)))
    tokenizer.add_special_tokens([token for token in special if token not in BYTES])
    document = json.loads(tokenizer.to_str())
    if name == "xlm":  # all bytes but one
        document["model"]["byte_fallback"] = True
        document["model"]["vocab"] += [[token, -20] for token in BYTES[1:]]
    tokenizer = Tokenizer.from_str(json.dumps(document))
    if processor:
        tokenizer.post_processor = processor
    for token in added:
        (tokenizer.add_special_tokens if token.special else tokenizer.add_tokens)([token])
    return json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False, separators=(",", ":")), [token.content for token in added]


def spans(text, offsets):
    places = [0]
    for character in text:
        places.append(places[-1] + len(character.encode()))
    fields = []
    last = 0
    for begin, end in offsets:
        begin, end = places[begin], places[end]
        fields.append(base36(end) if begin == last else f"{base36(begin)}-{base36(end)}")
        last = end
    return " ".join(fields)


def make_cases(tokenizer, specials, rng, count):
    before, behind = find_frame(tokenizer)
    lines = [join(before) + "|" + join(behind)]
    texts = [""]
    while len(texts) < count:
        text = make_text(rng, specials or ["<s>"]).replace("\0", "")
        if text not in texts:
            texts.append(text)
    for text in texts:
        encoding = tokenizer.encode(text, add_special_tokens=False)
        ids = encoding.ids
        assert tokenizer.encode(text).ids == before + ids + behind
        full = tokenizer.decode(ids, skip_special_tokens=False) if ids else ""
        bare = tokenizer.decode(ids) if ids else ""
        fields = [escape(text), join(ids), "=" if full == text else escape(full), "=" if bare == full else escape(bare)]
        lines.append("\t".join(fields + [spans(text, encoding.offsets)]))
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--strings", type=int, default=90, help="of each tokenizer")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    for name in MAKERS:
        text, specials = make_tokenizer(name, random.Random(7))
        (arguments.folder / f"{name}.json").write_text(text, encoding="utf-8")
        cases = make_cases(Tokenizer.from_str(text), specials, random.Random(f"{arguments.seed} {name}"), arguments.strings)
        (arguments.folder / f"{name}.cases").write_text(cases, encoding="utf-8")


if __name__ == "__main__":
    main()
