#!/usr/bin/env python3
"""Writes tests/tokenizer/{normalizer,bert_words,wordpiece}_cases.inc: what Hugging Face's tokenizers make
of texts in many scripts with BERT's and other normalizers, its pre-tokenizer and a WordPiece.

    python tests/oracle/make_word_cases.py
"""

import json
import pathlib
import random
import unicodedata

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "tokenizer"

TEXTS = [
    "",
    " ",
    "Hello, World! It's 3.14 o'clock.",
    "\tTab\r\nline\n\n  spaces\u00a0no-break\u3000wide\u2003em\u2028line\u2029paragraph\u0085next",
    "zero\u200bwidth\u200djoiner\ufeffmark\u00adsoft\u2060word",
    "control\x00zero\x01one\x0bvertical\x0cfeed\x1besc\x7fdelete\x9cstring\ufffdreplacement\ue000private",
    "İstanbul IĞDIR ıi İİ",
    "Straße STRASSE ẞ Füße",
    "ΑΣ ΣΑΣ ὈΔΥΣΣΕΎΣ ᾼ ῼ",
    "é e\u0301 E\u0301\u0323 E\u0323\u0301 Å Å \u0344 ño",
    "한국어 문장입니다. 각 \u1100\u1161\u11a8 ㄱㅏ",
    "中文字符，全角！日本語カタカナひらがな々〆ㇰ",
    "\u20000\U00020001\U0002b81f\U0002b820\U0002ceaf\uf900\U0002f800豈",
    "हिन्दी पाठ। ไทยภาษา עִבְרִית العَرَبِيَّة",
    "Привет, МИР! Ёлка й",
    "ﬁ ﬂ ² ½ ① Ａ ｶﾞ ㎏ ﷺ Ⅷ ℌ ſ ẛ̣",
    "emoji 😀👩‍👩‍👧‍👦🇰🇷 ✌🏽 ❤️",
    "a\u0300\u0316\u0301\u0317b\u0331\u0308 q\u0307\u0323",
    "«quotes» “curly” ‹x› …—– ¿qué? ¡hola! § ¶ ۔ ؟ 、。",
    "$^`~|+=<> €£¥ ± × ÷ ° © ® ™",
    "ǅ ǈ Ǳ Ա Ⴀ Ꭰ Ꙁ Ɐ K Ω",
    "\u0300leading mark",
    "\u0378unassigned\U0001fbff\u07fd\u1abf",
    "ⓉⒽⒺ 𝐁𝐨𝐥𝐝 𝕯 𐐀𐐁 𞤀",
]

NORMALIZERS = [
    {"type": "NFC"},
    {"type": "NFD"},
    {"type": "NFKC"},
    {"type": "NFKD"},
    {"type": "Lowercase"},
    {"type": "StripAccents"},
    {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "Lowercase"}, {"type": "StripAccents"}]},
    {"type": "Sequence", "normalizers": []},
] + [
    {
        "type": "BertNormalizer",
        "clean_text": clean,
        "handle_chinese_chars": chinese,
        "strip_accents": accents,
        "lowercase": lower,
    }
    for clean, chinese, accents, lower in [
        (True, True, None, True),
        (True, True, None, False),
        (False, True, True, False),
        (True, False, False, True),
        (False, False, False, False),
    ]
]


def random_texts(count):
    """Characters that every version of Unicode in use has, marks above all."""
    drawn = random.Random(7)
    known = unicodedata.ucd_3_2_0
    pool = [c for c in map(chr, range(0x30000)) if known.category(c) not in ("Cn", "Cs")]
    marks = [c for c in pool if known.category(c)[0] == "M"]
    letters = list("aeiouAEIOU ,.") + [c for c in pool if known.decomposition(c)]
    for _ in range(count):
        kinds = [drawn.choice((pool, marks, letters)) for _ in range(drawn.randrange(1, 16))]
        yield "".join(drawn.choice(kind) for kind in kinds)


def quoted(text):
    shown = ""
    for byte in text.encode():
        plain = 0x20 <= byte < 0x7F and chr(byte) not in '"\\?'
        shown += chr(byte) if plain else "\\%03o" % byte
    return '"%s"' % shown


def sized(text):
    return "%s, %d" % (quoted(text), len(text.encode()))


def normalizer_cases(texts):
    for settings in NORMALIZERS:
        bare = Tokenizer(models.BPE())
        content = json.loads(bare.to_str())
        content["normalizer"] = settings
        normalizer = Tokenizer.from_str(json.dumps(content)).normalizer
        yield "{%s, (const struct sample[]){" % quoted(json.dumps(settings))
        for text in texts:
            yield "{%s, %s}," % (sized(text), sized(normalizer.normalize_str(text)))
        yield "{NULL, 0, NULL, 0}}},"


def split_cases(texts):
    words = pre_tokenizers.BertPreTokenizer()
    for text in texts:
        found = words.pre_tokenize_str(text)
        shown = "".join("%s, " % quoted(word) for word, _ in found)
        yield "{%s, (const char *const[]){%sNULL}}," % (sized(text), shown)


def wordpiece_cases():
    vocabulary = ["[PAD]", "[UNK]", "un", "##aff", "##able", "##a", "##ble", "aff", "a", "##f", "한"]
    vocabulary += ["##국", "##국어", "é", "##é", "naï", "##ve", "b", "##b", "##", "##bb", ".", "aa"]
    words = ["unaffable", "affable", "unaff", "aff", "affx", "xaff", "a", "affa", "한국어", "한국", "국", "éé"]
    words += ["éb", "naïve", "b" * 10, "b" * 9, "b" * 11, "é" * 10, "é" * 11, ".", "aaa", "##", "[UNK]", "..", ""]
    for prefix, most in (("##", 10), ("", 100), ("##", 0)):
        model = models.WordPiece(
            {token: i for i, token in enumerate(vocabulary)},
            unk_token="[UNK]",
            continuing_subword_prefix=prefix,
            max_input_chars_per_word=most,
        )
        shown = json.dumps({"continuing_subword_prefix": prefix, "max_input_chars_per_word": most})
        yield "{%s, (const struct word[]){" % quoted(shown)
        for word in words:
            ids = [token.id for token in model.tokenize(word)]
            yield "{%s, %d, (const int32_t[]){%s}}," % (
                quoted(word),
                len(ids),
                ", ".join(map(str, ids + [-1])),
            )
        yield "{NULL, 0, NULL}}},"
    shown = ", ".join(quoted(token) for token in vocabulary)
    (FOLDER / "wordpiece_vocabulary.inc").write_text(f"{MADE}\n{shown}\n")


MADE = "/* Written by tests/oracle/make_word_cases.py. clang-format off */"


def main():
    texts = TEXTS + list(random_texts(24))
    for name, lines in (
        ("normalizer_cases", normalizer_cases(texts)),
        ("bert_words_cases", split_cases(texts)),
        ("wordpiece_cases", wordpiece_cases()),
    ):
        (FOLDER / f"{name}.inc").write_text("\n".join([MADE, *lines]) + "\n")


if __name__ == "__main__":
    main()
