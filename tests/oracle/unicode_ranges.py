#!/usr/bin/env python3
"""Writes src/tokenizer/unicode_ranges.c: the classes of characters that Hugging Face's tokenizers know.

They come from their own tables of Unicode, which are older than what a library of today has: a
tokenizer cuts a text as the model's makers did only with the same ones. Every character is put
through the normalizer or pre-tokenizer that asks for the class.

    python tests/oracle/unicode_ranges.py > src/tokenizer/unicode_ranges.c
"""

from tokenizers import normalizers, pre_tokenizers

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


def ranges(characters):
    found = []
    for c in characters:
        if found and found[-1][1] == c - 1:
            found[-1][1] = c
        else:
            found.append([c, c])
    return found


def main():
    classes = {
        "dropped": dropped_by(bert(clean_text=True)),
        "punctuation": punctuation(),
        "nonspacing_mark": dropped_by(bert(strip_accents=True)),
        "mark": dropped_by(normalizers.StripAccents()),
        "ideograph": ideographs(),
        "numeric": numeric(),
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
    entries = ["{0x%04x, 0x%04x, %d}" % tuple(entry) for entry in scripts()]
    print("static const struct yk_unicode_script_range scripts[] = {")
    for i in range(0, len(entries), 4):
        print("    " + ", ".join(entries[i : i + 4]) + ",")
    print("};\n")
    print("const struct yk_unicode_script_range_list yk_unicode_script_ranges = {")
    print("    scripts, sizeof scripts / sizeof scripts[0]};")


if __name__ == "__main__":
    main()
