#!/usr/bin/env python3
"""Makes tests/tokenizer/fixtures/tokenizers: what Hugging Face's tokenizers make of texts in many scripts.

NAME.json is a small tokenizer, trained on texts that this script makes up:

    gpt2      byte-level BPE as GPT-2's: its pattern, merges written "a b"
    llama3    byte-level BPE as Llama 3's: its pattern, ignore_merges, special tokens, a template
    bert      WordPiece as BERT's
    prefixed  byte-level BPE with a space put before each text, small letters, RobertaProcessing
    removed   byte-level BPE behind Splits that remove what they match, without a decoder

NAME.cases holds texts. Its first line has the ids that are put before and behind a text, "1 2|3";
each line that follows has, separated by tabs: the text, its ids, what they are decoded to, and to
what without special tokens. "=" is the same as the text, or as the field before it. Characters
below U+0021 but the space, backslashes, and a lone "=" are written \\x...; ids are in base 36.

    make_tokenizer_fixtures.py FOLDER [--strings N] [--seed S]
"""

import argparse
import json
import pathlib
import random
import unicodedata

from tokenizers import AddedToken, Regex, Tokenizer
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)

WORDS = """the of and a to in is was he for it with as his on be at by had not are but from or have an
they which one you were her all she there would their we him been has when who will more no if out so
said what up its about into than them can only other new some could time these two may then do first
any my now such like our over man me even most made after also did many before must through years where
much your way well down should because each just those people how too little state good very make world
still own see men work long get here between both life being under never day same another know while last
might us great old year off come since against go came right used take three training tokens gradient
unbelievable internationalisation reinforcement""".split()

SAMPLES = [
    "El ingenioso hidalgo don Quijote de la Mancha", "Le cœur a ses raisons que la raison ne connaît point",
    "Übermäßig große Straßenbahnhaltestelle", "Zażółć gęślą jaźń", "Příliš žluťoučký kůň úpěl ďábelské ódy",
    "Đường thẳng và mặt phẳng trong không gian", "Ἐν ἀρχῇ ἦν ὁ λόγος", "Η ταχεία αλεπού πηδάει πάνω από τον σκύλο",
    "Съешь ещё этих мягких французских булок, да выпей чаю", "Чуєш їх, доцю, га? Кумедна ж ти",
    "بِسْمِ ٱللَّٰهِ نص حكيم له سر قاطع وذو شأن عظيم", "דג סקרן שט בים מאוכזב ולפתע מצא חברה",
    "सभी मनुष्य जन्म से स्वतंत्र होते हैं क्षत्रिय", "মানুষ স্বাধীনভাবে সমান মর্যাদা", "எல்லா மனிதரும் சுதந்திரமாகவே",
    "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า", "人人生而自由在尊严和权利上一律平等", "天地玄黃宇宙洪荒",
    "いろはにほへと ちりぬるを カタカナ ﾊﾝｶｸ ガギグ", "모든 인간은 태어날 때부터 자유로우며",
    "ყველა ადამიანი იბადება თავისუფალი ᲥᲐᲠᲗᲣᲚᲘ", "Բոլոր մարդիկ ծնվում են ազատ", "ሁሉም ሰዎች ነጻ ሆነው ተወለዱ",
    "ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ", "ខ្មែរ ភាសា", "མི་རིགས་ཀྱི་སྐད", "ߒߞߏ", "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ",
]

PIECES = [
    "👩‍👩‍👧‍👦", "👍🏽", "🇰🇷🇫🇷", "❤️", "🏳️‍🌈", "1️⃣", "😀😁", "e\u0301", "a\u0308\u0304", "\u0301", "n\u0303o", "Å", "ﬁ", "ﬀ", "ſ",
    "Ⅷ", "½", "²³", "٣٤", "१२३", "１２３", "㊿", "0", "7", "42", "2024", "3.14159", "1,000,000", "0x7fff", "1e-5",
    "'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'LL", "'ſ", "don't", "we'll", "it's", "y'all'd've", "’s", "O'Reilly",
    "for (int i = 0; i < n; i++) {\n\tx[i] += 1;\n}", "#include <stdio.h>", "def f(x):\n    return x**2\n", "a->b", "!=", "==", "/* */", "<br/>",
    "https://example.org/a?b=c&d=%20", "user@example.org", "...", "…", "—", "“quoted”", "«guillemets»", "¿qué?", "¡no!", "(a)", "[b]", "{c}",
    "$5.00", "€20", "50%", "#tag", "@user", "~", "`code`", "^_^", "\\n", "don 't", "do not", " n't", "!?",
    "İstanbul", "ΟΔΥΣΣΕΥΣ", "ẞ", "ǅ", "K", "ꭰ", "\u00ad", "\ufeff", "\u200b", "\u200d", "\u200c", "\ufffd", "\ue000", "\u2060",
    "豈", "가", "각", "が", "ｶﾞ", "漢字", "𝒳", "𠮷", "𐍈", "🜁", "\U000e0001", "\U0010ffff",
]

SPACES = [
    " ", " ", " ", " ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", "\r", " \n", "\n ", "    ", "\x0b", "\x0c", "\x85", "\xa0", "\u1680", "\u2003",
    "\u2009", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\u180e", "\x1c", "\x00", "\x01", "\x7f", "\x1f",
]


def training_texts(rng):
    for _ in range(1500):
        yield " ".join(rng.choice(WORDS) for _ in range(8))
    for _ in range(12):
        yield from SAMPLES
        yield " ".join(PIECES)


def random_character(rng):
    """One that Unicode 12 had: libraries do not agree on younger ones."""
    while True:
        c = chr(rng.choice([rng.randrange(0x20, 0x250), rng.randrange(0x20, 0x3000), rng.randrange(0x20, 0x1FA00)]))
        if unicodedata.category(c) not in ("Cn", "Cs") and unicodedata.ucd_3_2_0.category(c) != "Cn":
            return c


def make_text(rng, specials):
    parts = []
    for _ in range(rng.choice([1, 1, 2, 2, 3, 4])):
        kind = rng.random()
        if kind < 0.30:
            word = rng.choice(WORDS)
            parts.append(rng.choice([word, word, word, word.capitalize(), word.upper()]))
        elif kind < 0.47:
            sample = rng.choice(SAMPLES)
            start = rng.randrange(len(sample))
            parts.append(sample[start : start + rng.randrange(1, 9)])
        elif kind < 0.70:
            parts.append(rng.choice(PIECES))
        elif kind < 0.80:
            parts.append(rng.choice(specials))
        elif kind < 0.86:
            parts.append("".join(random_character(rng) for _ in range(rng.randrange(1, 4))))
        else:
            parts.append("".join(rng.choice(SPACES) for _ in range(rng.randrange(1, 4))))
        if rng.random() < 0.6:
            parts.append(rng.choice(SPACES))
    return "".join(parts)


def train_bpe(rng, pre_tokenizer, size, normalizer=None, **options):
    tokenizer = Tokenizer(models.BPE(**options))
    tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer:
        tokenizer.normalizer = normalizer
    trainer = trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(training_texts(rng), trainer)
    return tokenizer


def make_gpt2(rng):
    tokenizer = train_bpe(rng, pre_tokenizers.ByteLevel(add_prefix_space=False), 1100)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken("<|endoftext|>", normalized=True)])
    tokenizer.add_tokens([
        AddedToken("<left>", lstrip=True), AddedToken("<right>", rstrip=True, normalized=False),
        AddedToken("world", single_word=True), AddedToken("<|end"), AddedToken("é"), AddedToken("  ", normalized=False),
    ])
    return tokenizer, ["<|endoftext|>", " <left> ", " <right>  ", "world", "worlds", "<|end", "é", "<|endof", "_world", "\u0301world "]


def make_llama3(rng):
    split = pre_tokenizers.Split(Regex(LLAMA3), behavior="isolated", invert=False)
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=False)
    tokenizer = train_bpe(rng, pre_tokenizers.Sequence([split, byte_level]), 1300, ignore_merges=True)
    # Tokens that no merges make: only a whole word is one of them.
    model = json.loads(tokenizer.to_str())
    for word in ("Ġinternational", "unmergeable", "Ġ漢"):
        token = "".join(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(word.replace("Ġ", " "))[0][0])
        model["model"]["vocab"].setdefault(token, len(model["model"]["vocab"]))
    tokenizer = Tokenizer.from_str(json.dumps(model))
    names = ["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|finetune_right_pad_id|>"]
    names += [f"<|reserved_special_token_{i}|>" for i in range(14)]
    tokenizer.add_special_tokens([AddedToken(name, normalized=False) for name in names])
    begin = tokenizer.token_to_id("<|begin_of_text|>")
    template = processors.TemplateProcessing(
        single="<|begin_of_text|> $A", pair="<|begin_of_text|> $A <|begin_of_text|>:1 $B:1", special_tokens=[("<|begin_of_text|>", begin)]
    )
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer, names[:5] + ["<|reserved_special_token_1|>", "<|reserved_special_token_13|>", "<|eot_id|", " international", "unmergeable", " 漢"]


def make_bert(rng):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=1500, special_tokens=names, show_progress=False)
    tokenizer.train_from_iterator(training_texts(rng), trainer)
    tokenizer.add_tokens([AddedToken("Straße", single_word=True), AddedToken("<Left>", lstrip=True, rstrip=True)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer, names + ["Straße", "straße", "Straßen", " <LEFT> ", "<left>"]


def make_prefixed(rng):
    normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    tokenizer = train_bpe(rng, pre_tokenizers.ByteLevel(add_prefix_space=True), 400, normalizer)
    tokenizer.add_special_tokens([AddedToken("<s>"), AddedToken("</s>"), AddedToken("<mask>", lstrip=True)])
    tokenizer.add_tokens([AddedToken("NaÏve"), AddedToken("Åb", single_word=True)])
    ends = [("</s>", tokenizer.token_to_id("</s>")), ("<s>", tokenizer.token_to_id("<s>"))]
    tokenizer.post_processor = processors.RobertaProcessing(*ends)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer, ["<s>", "</s>", " <mask> ", "naïve", "NAI\u0308VE", "åb", "A\u030ab", "åbc"]


def make_removed(rng):
    steps = [
        pre_tokenizers.Split(Regex(r"\s+|[\p{Han}]"), behavior="removed"),
        pre_tokenizers.Split(Regex(r"\w+|[^\w\s]"), behavior="removed", invert=True),
        pre_tokenizers.Split("th", behavior="isolated"),
        pre_tokenizers.Split(Regex(r"(?=x)|a*"), behavior="isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ]
    tokenizer = train_bpe(rng, pre_tokenizers.Sequence(steps), 400)
    tokenizer.add_special_tokens([AddedToken("<s>")])
    return tokenizer, ["<s>", "thaaax", "xx", "aa xaa", "_th_"]


MAKERS = {"gpt2": make_gpt2, "llama3": make_llama3, "bert": make_bert, "prefixed": make_prefixed, "removed": make_removed}


def as_file(name, tokenizer):
    document = json.loads(tokenizer.to_str())
    if name == "gpt2":
        document["model"]["merges"] = [" ".join(pair) for pair in document["model"]["merges"]]
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def escape(text):
    if text == "=":
        return "\\x3d"
    return "".join(f"\\x{ord(c):02x}" if ord(c) < 32 or c == "\\" else c for c in text)


def base36(number):
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    out = digits[number % 36]
    while number >= 36:
        number //= 36
        out = digits[number % 36] + out
    return out


def join(ids):
    return " ".join(base36(i) for i in ids)


def find_frame(tokenizer):
    ids = tokenizer.encode("the").ids
    inner = tokenizer.encode("the", add_special_tokens=False).ids
    for before in range(len(ids) - len(inner) + 1):
        if ids[before : before + len(inner)] == inner:
            return ids[:before], ids[before + len(inner) :]
    raise SystemExit("the post-processor does more than to put tokens around a text")


def make_cases(tokenizer, specials, rng, count):
    before, behind = find_frame(tokenizer)
    lines = [join(before) + "|" + join(behind)]
    seen = {""}
    texts = [""]
    while len(texts) < count:
        text = make_text(rng, specials)
        if text not in seen:
            seen.add(text)
            texts.append(text)
    for text in texts:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        assert tokenizer.encode(text).ids == before + ids + behind
        full = tokenizer.decode(ids, skip_special_tokens=False)
        bare = tokenizer.decode(ids)
        fields = [escape(text), join(ids), "=" if full == text else escape(full), "=" if bare == full else escape(bare)]
        lines.append("\t".join(fields))
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--strings", type=int, help="of each tokenizer")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    for name, maker in MAKERS.items():
        tokenizer, specials = maker(random.Random(7))
        text = as_file(name, tokenizer)
        (arguments.folder / f"{name}.json").write_text(text, encoding="utf-8")
        tokenizer = Tokenizer.from_str(text)
        count = arguments.strings or (400 if name in ("prefixed", "removed") else 900)
        cases = make_cases(tokenizer, specials, random.Random(f"{arguments.seed} {name}"), count)
        (arguments.folder / f"{name}.cases").write_text(cases, encoding="utf-8")


if __name__ == "__main__":
    main()
