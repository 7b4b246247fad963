#!/usr/bin/env python3
"""Writes src/tokenizer/unicode_ranges.c: the classes of characters that Hugging Face's tokenizers know.

They come from their own tables of Unicode, which are older than what a library of today has: a
tokenizer cuts a text as the model's makers did only with the same ones. Every character is put
through the normalizer or pre-tokenizer that asks for the class.

    python tests/oracle/unicode_ranges.py > src/tokenizer/unicode_ranges.c
"""

import unicodedata

from tokenizers import Regex, normalizers, pre_tokenizers

CHARACTERS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def bert(**asked):
    settings = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**settings, **asked})


def dropped_by(normalizer):
    return [c for c in CHARACTERS if normalizer.normalize_str("a" + chr(c)) == "a"]


def punctuation():
    words = pre_tokenizers.BertPreTokenizer()
    return [c for c in CHARACTERS if len(words.pre_tokenize_str("a" + chr(c) + "b")) == 3]


def ideographs():
    spaced = bert(handle_chinese_chars=True)
    return [c for c in CHARACTERS if spaced.normalize_str(chr(c)) != chr(c)]


def numeric():
    digits = pre_tokenizers.Digits(individual_digits=True)
    return [c for c in CHARACTERS if len(digits.pre_tokenize_str("a" + chr(c) + "b")) == 3]


def scripts():
    """Ranges of characters with the number of their script; those of any script are left out."""
    splitter = pre_tokenizers.UnicodeScripts()
    samples = ["a", "\u044f"]  # one character of each script, by number

    def is_same(sample, c):
        return len(splitter.pre_tokenize_str(sample + chr(c))) == 1

    found = []
    last = 0
    for c in CHARACTERS:
        if is_same(samples[0], c) and is_same(samples[1], c):
            continue
        if not is_same(samples[last], c):
            same = [i for i, sample in enumerate(samples) if is_same(sample, c)]
            last = same[0] if same else len(samples)
            if not same:
                samples.append(chr(c))
        if found and found[-1][1] == c - 1 and found[-1][2] == last + 1:
            found[-1][1] = c
        else:
            found.append([c, c, last + 1])
    return found


def extending():
    """Characters that continue a grapheme cluster: a map of "a" alone then replaces both by "b"."""
    units = [0] * 512
    units[0] = 1 << 10  # the children of the root are at 1 ^ label
    units[1 ^ 0x61] = (0x180 << 10) | (1 << 8) | 0x61  # "a", which has a leaf at (1 ^ "a") ^ 0x180
    units[(1 ^ 0x61) ^ 0x180] = 1 << 31
    trie = b"".join(unit.to_bytes(4, "little") for unit in units)
    letters = normalizers.Precompiled(len(trie).to_bytes(4, "little") + trie + b"b\0")
    assert letters.normalize_str("aa-") == "bb-"
    return [c for c in CHARACTERS if letters.normalize_str("a" + chr(c)) == "b"]


CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn".split()


def matched_by(pattern):
    """The characters that Oniguruma matches."""
    words = pre_tokenizers.Split(Regex(f"(?:{pattern})+"), "removed", invert=True)
    return {ord(c) for word, _ in words.pre_tokenize_str("".join(map(chr, CHARACTERS))) for c in word}


def newer():
    """Characters of which Oniguruma knows another category than Unicode 14 gives, each with a character
    that always had this category, as many bytes in UTF-8, and which is Han exactly if it is."""
    assert unicodedata.unidata_version == "14.0.0"
    category = {c: name for name in CATEGORIES for c in matched_by(r"\p{%s}" % name)}
    han = matched_by(r"\p{Han}")

    def kind(c, name):
        return name, len(chr(c).encode()), c in han

    stable = {}
    for c in CHARACTERS:
        if category[c] == unicodedata.category(chr(c)) == unicodedata.ucd_3_2_0.category(chr(c)):
            stable.setdefault(kind(c, category[c]), c)
    for c in CHARACTERS:
        if category[c] == unicodedata.category(chr(c)):
            stable.setdefault(kind(c, category[c]), c)
    found = []
    for c in CHARACTERS:
        if category[c] != unicodedata.category(chr(c)):
            same = stable[kind(c, category[c])]
            if found and found[-1][1] == c - 1 and found[-1][2] == same:
                found[-1][1] = c
            else:
                found.append([c, c, same])
    return found


def inert(newer_ranges):
    """Characters that normal forms of the library do not change or reorder, but those of today do."""
    nfd, nfkd, nfc = normalizers.NFD(), normalizers.NFKD(), normalizers.NFC()
    found = [c for first, last, _ in newer_ranges for c in range(first, last + 1)]
    for c in CHARACTERS:
        text = chr(c)
        forms = [unicodedata.normalize(form, text) for form in ("NFD", "NFKD")]
        order = unicodedata.combining(text)
        if forms != [nfd.normalize_str(text), nfkd.normalize_str(text)]:
            found.append(c)
        elif forms == [text, text] and order > 1 and nfd.normalize_str(text + "\u0334") == text + "\u0334":
            found.append(c)
        elif len(forms[0]) > 1 and nfc.normalize_str(forms[0]) != unicodedata.normalize("NFC", text):
            found.append(c)
    return sorted(set(found))


def lowercase():
    """Ranges of characters whose lower case Unicode 14 does not have, with the distance to it."""
    lower = normalizers.Lowercase()
    found = []
    for c in CHARACTERS:
        small = lower.normalize_str(chr(c))
        if small == chr(c).lower():
            continue
        distance = ord(small) - c
        if found and found[-1][1] == c - 1 and found[-1][2] == distance:
            found[-1][1] = c
        else:
            found.append([c, c, distance])
    return found


def print_numbered(kind, name, entries):
    entries = ["{0x%04x, 0x%04x, %d}" % tuple(entry) for entry in entries]
    print(f"static const struct yk_unicode_numbered_range {name}[] = {{")
    for i in range(0, len(entries), 4):
        print("    " + ", ".join(entries[i : i + 4]) + ",")
    print("};\n")
    print(f"const struct yk_unicode_numbered_range_list {kind} = {{")
    print(f"    {name}, sizeof {name} / sizeof {name}[0]}};\n")


def ranges(characters):
    found = []
    for c in characters:
        if found and found[-1][1] == c - 1:
            found[-1][1] = c
        else:
            found.append([c, c])
    return found


def main():
    newer_ranges = newer()
    classes = {
        "dropped": dropped_by(bert(clean_text=True)),
        "punctuation": punctuation(),
        "nonspacing_mark": dropped_by(bert(strip_accents=True)),
        "mark": dropped_by(normalizers.StripAccents()),
        "ideograph": ideographs(),
        "numeric": numeric(),
        "inert": inert(newer_ranges),
        "extending": extending(),
    }
    print("/* Written by tests/oracle/unicode_ranges.py. */")
    print('#include "tokenizer/unicode.h"\n')
    for name, characters in classes.items():
        entries = ["{0x%04x, 0x%04x}" % tuple(pair) for pair in ranges(characters)]
        print(f"static const struct yk_unicode_range {name}[] = {{")
        for i in range(0, len(entries), 4):
            print("    " + ", ".join(entries[i : i + 4]) + ",")
        print("};\n")
    print("const struct yk_unicode_range_list yk_unicode_category_ranges[YK_UNICODE_CATEGORY_COUNT] = {")
    for name in classes:
        print(f"    [YK_UNICODE_{name.upper()}] = {{{name}, sizeof {name} / sizeof {name}[0]}},")
    print("};\n")
    print_numbered("yk_unicode_script_ranges", "scripts", scripts())
    print_numbered("yk_unicode_newer_ranges", "newer", newer_ranges)
    print_numbered("yk_unicode_lowercase_ranges", "lowercase", lowercase())


if __name__ == "__main__":
    main()
