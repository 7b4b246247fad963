#!/usr/bin/env python3
"""Real tokenizers: yoke and Hugging Face's tokenizers on many strings, which must give the same.

    tools/build release oracle-tokenize_strings
    /tmp/oracle/bin/python tests/oracle/compare_tokenizers.py [--strings N] [--corpus FILE ...] FOLDER ...

Each FOLDER holds a tokenizer.json. Compared are, for every string, the ids and the text that they decode to with and
without special tokens and, of every tenth string, the same without the post-processor and the offsets of the ids. Prints a line for each
tokenizer, and for the first strings that differ the shortest string found that still does. Strings are made of many
scripts, whitespace, emoji, combining marks, control characters, numbers, code, special tokens and parts of the
corpus; they are valid UTF-8 without zeros and depend on --seed alone. Truncation and padding of the file are off.
"""
import argparse
import pathlib
import random
import subprocess
import sys
import time
import unicodedata

import numpy
from tokenizers import Tokenizer

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "build" / "release" / "tests" / "oracle-tokenize_strings"
BATCH = 20000
OFTEN, RARELY = (True, False), (False, True)  # (with the post-processor, with offsets): every string, and every tenth
EVERY = 10

BLOCKS = [
    (0x21, 0x7e), (0x61, 0x7a), (0x41, 0x5a), (0xa1, 0xff), (0x100, 0x17f), (0x180, 0x24f), (0x250, 0x2af),
    (0x2b0, 0x2ff), (0x300, 0x36f), (0x370, 0x3ff), (0x400, 0x45f), (0x460, 0x52f), (0x531, 0x58f), (0x591, 0x5f4),
    (0x600, 0x6ff), (0x700, 0x74f), (0x780, 0x7bf), (0x7c0, 0x7ff), (0x800, 0x85f), (0x8a0, 0x8ff), (0x900, 0x97f),
    (0x980, 0x9ff), (0xa00, 0xa7f), (0xa80, 0xaff), (0xb00, 0xb7f), (0xb80, 0xbff), (0xc00, 0xc7f), (0xc80, 0xcff),
    (0xd00, 0xd7f), (0xd80, 0xdff), (0xe00, 0xe5b), (0xe80, 0xedf), (0xf00, 0xfff), (0x1000, 0x109f), (0x10a0, 0x10ff),
    (0x1100, 0x11ff), (0x1200, 0x137f), (0x13a0, 0x13fd), (0x1400, 0x167f), (0x1680, 0x16ff), (0x1780, 0x17ff),
    (0x1800, 0x18af), (0x1ab0, 0x1aff), (0x1c80, 0x1cbf), (0x1d00, 0x1d7f), (0x1dc0, 0x1dff), (0x1e00, 0x1eff),
    (0x1f00, 0x1fff), (0x2000, 0x206f), (0x2070, 0x209f), (0x20a0, 0x20cf), (0x20d0, 0x20ff), (0x2100, 0x214f),
    (0x2150, 0x218f), (0x2190, 0x21ff), (0x2200, 0x22ff), (0x2300, 0x23ff), (0x2460, 0x24ff), (0x2500, 0x257f),
    (0x2600, 0x26ff), (0x2700, 0x27bf), (0x2c00, 0x2c5f), (0x2c80, 0x2cff), (0x2d30, 0x2d7f), (0x2e00, 0x2e7f),
    (0x2e80, 0x2fdf), (0x3000, 0x303f), (0x3041, 0x309f), (0x30a0, 0x30ff), (0x3100, 0x318f), (0x3200, 0x33ff),
    (0x3400, 0x4dbf), (0x4e00, 0x9fff), (0xa000, 0xa4cf), (0xa640, 0xa69f), (0xa720, 0xa7ff), (0xa8e0, 0xa8ff),
    (0xab30, 0xabff), (0xac00, 0xd7a3), (0xe000, 0xe0ff), (0xf900, 0xfaff), (0xfb00, 0xfb4f), (0xfb50, 0xfdff),
    (0xfe00, 0xfe6f), (0xfe70, 0xfeff), (0xff00, 0xffef), (0xfff0, 0xfffd), (0x10000, 0x100ff), (0x10280, 0x103ff),
    (0x10400, 0x1047f), (0x10800, 0x10fff), (0x11000, 0x114ff), (0x12000, 0x123ff), (0x13000, 0x1342f),
    (0x16f00, 0x16f9f), (0x17000, 0x187f7), (0x1b000, 0x1b0ff), (0x1d100, 0x1d1ff), (0x1d400, 0x1d7ff),
    (0x1e900, 0x1e95f), (0x1ee00, 0x1eeff), (0x1f000, 0x1f0ff), (0x1f100, 0x1f2ff), (0x1f300, 0x1f64f),
    (0x1f680, 0x1f6ff), (0x1f900, 0x1faff), (0x20000, 0x2a6df), (0x2f800, 0x2fa1f), (0xe0000, 0xe01ef),
    (0xf0000, 0xf00ff), (0x10fff0, 0x10fffd),
]
SPACES = [" "] * 12 + list("\t\n\n\r") + ["\r\n", "  ", "    ", "\u00a0", "\u2003", "\u3000", "\u2028", "\u0085",
                                          "\u200b", "\u1680", "\u2009", "\x0b", "\x0c", "\u202f", "\u205f"]
MARKS = [chr(c) for c in range(0x300, 0x370)] + list("\u0591\u05b0\u064b\u0651\u093c\u094d\u0e31\u3099\u309a\u20dd\u200d")
CONTROLS = [chr(c) for c in [*range(1, 32), *range(127, 160)]] + list(
    "\ufeff\ufffd\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u00ad\u180e\ufff9\ufffb\U000e0001")
EMOJI = [chr(c) for c in [*range(0x1f300, 0x1f650), *range(0x1f680, 0x1f6d0), *range(0x1f90c, 0x1fa00),
                          *range(0x2600, 0x2700)]]
MODIFIERS = [chr(c) for c in range(0x1f3fb, 0x1f400)]
FLAGS = [chr(c) for c in range(0x1f1e6, 0x1f200)]
WORDS = """the of and to in a is that for it as was with be by on not he I'm you're don't we've she'll they'd CAN'T
IT'S o'clock Hello, world! running (unbelievable) [brackets] {braces} <tags> e.g. i.e. U.S.A. naïve café Zürich Straße
ÀÉÎÕÜ señor İstanbul ﬁne ½ ² ™ Ω Привет, мир! Ελληνικά שלום עולם مرحبا بالعالم नमस्ते दुनिया สวัสดีชาวโลก こんにちは世界
カタカナ 你好，世界。 안녕하세요 세계 xin chào việt nam ▁ ▁▁ Ġ ## ##ing ``quoted'' "double" — – … “curly” ‘single’ -- --- ...
1st 2nd 3.14159 1,000,000 0x1F 1e-10 ١٢٣ १२३ 一二三 Ⅷ 100% $5.99 €20 +1 (555) 123-4567 2024-01-31 12:34:56""".split()
CODE = """def f(x): \treturn x**2 for(int i=0;i<n;++i){ } // comment /* block */ #include <stdio.h> x != y && z || !w
std::vector<int>& a->b c.d e[f] "str\\n" 'c' {"key": [1, 2.5, null, true]} https://example.com/a/b?c=d&e=%20f#g
http://www.x.org user@mail.example.co.uk C:\\Users\\x /usr/local/bin $HOME ${var} `cmd` @decorator <div class="a">text</div>
SELECT * FROM t WHERE a='b'; _snake_case camelCase PascalCase SCREAMING_CASE kebab-case \\frac{1}{2} $x^2$ ~/.bashrc""".split(" ")


def character_of(block):
    return chr(random.randint(*block))


def word_of(block):
    return "".join(character_of(block) for _ in range(random.choice((1, 1, 2, 3, 4, 5, 8, 12))))


def one_script(_):
    block = random.choice(BLOCKS)
    return " ".join(word_of(block) for _ in range(random.randint(1, 6)))


def mixed_scripts(_):
    blocks = random.sample(BLOCKS, random.randint(2, 5))
    return "".join(word_of(random.choice(blocks)) + random.choice(("", " ", " ", random.choice(SPACES)))
                   for _ in range(random.randint(1, 8)))


def any_characters(_):
    points = (random.randint(1, 0x10ffff - 0x800) for _ in range(random.randint(1, 12)))
    return "".join(chr(p if p < 0xd800 else p + 0x800) for p in points)


def from_corpus(source):
    if not source.corpus:
        return from_words(source)
    length = random.choice((5, 20, 60, 120, 200))
    at = random.randrange(max(1, len(source.corpus) - length))
    return source.corpus[at:at + length]


def from_words(_):
    return "".join(random.choice(WORDS) + random.choice((" ", " ", " ", "", random.choice(SPACES)))
                   for _ in range(random.randint(1, 10)))


def whitespace(_):
    return "".join(random.choice(SPACES) * random.choice((1, 1, 2, 3, 9)) + random.choice(("", "a", "Bc", "1", "!", "é", "中"))
                   for _ in range(random.randint(1, 6)))


def emoji(_):
    def one():
        kind = random.randrange(5)
        if kind == 0:
            return "\u200d".join(random.choice(EMOJI) for _ in range(random.randint(2, 4)))
        if kind == 1:
            return random.choice(EMOJI) + random.choice(MODIFIERS)
        if kind == 2:
            return random.choice(FLAGS) + random.choice(FLAGS)
        if kind == 3:
            return random.choice("0123456789#*") + "\ufe0f\u20e3"
        return random.choice(EMOJI) + random.choice(("", "\ufe0f", "\ufe0e"))
    return "".join(one() + random.choice(("", "", " ", "ok")) for _ in range(random.randint(1, 5)))


def combining(_):
    text = "".join(random.choice("aeinosuzAEOUкигπωカハはか한ש") + "".join(random.choices(MARKS, k=random.randint(0, 3)))
                   + random.choice(("", "", " ")) for _ in range(random.randint(1, 8)))
    return unicodedata.normalize(random.choice(("NFC", "NFD", "NFKC", "NFKD")), text) if random.random() < .5 else text


def controls(_):
    return "".join(random.choice((random.choice(CONTROLS), random.choice("ab1 ."), character_of(random.choice(BLOCKS))))
                   for _ in range(random.randint(1, 10)))


def digits(_):
    zeros = (0x30, 0x30, 0x30, 0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0xff10, 0x1d7ce, 0x2460, 0xb2)
    zero = random.choice(zeros)
    return "".join(chr(zero + random.randint(0, 9)) + random.choice(("", "", "", "", ".", ",", " ", "-", "a"))
                   for _ in range(random.randint(1, 16)))


def code(_):
    return "".join(random.choice(CODE) + random.choice((" ", " ", "", "\n", "\n    ", "\t", "\r\n"))
                   for _ in range(random.randint(1, 8)))


def repeated(_):
    unit = random.choice(("a", "ha", " ", "\n", "-", "=", "é", "中", "\u0301", "🙂", "▁", "Ġ", "'s", "0", "ＡＢ"))
    return random.choice(("", "x", " ")) + unit * random.choice((2, 5, 17, 64, 110)) + random.choice(("", "y", " "))


def with_special_tokens(source):
    def token():
        text = random.choice(source.special)
        change = random.randrange(12)
        return (text[:-1] if change == 0 else text[1:] if change == 1 else text.lower() if change == 2 else
                text.upper() if change == 3 else text + random.choice(source.special) if change == 4 else text)
    return "".join(random.choice(("", " ", "  ", "\n", "a", "é", "中", random.choice(WORDS), random.choice(SPACES)))
                   + token() + random.choice(("", "", " ", "  ", "b", ".", random.choice(WORDS)))
                   for _ in range(random.randint(1, 4)))


KINDS = {one_script: 20, mixed_scripts: 14, any_characters: 4, from_corpus: 16, from_words: 10, whitespace: 6, emoji: 5,
         combining: 6, controls: 4, digits: 4, code: 5, repeated: 1, with_special_tokens: 5}


class Source:
    """Strings in batches. Those without special tokens are the same for every tokenizer and made once."""

    def __init__(self, corpus, seed, count):
        self.corpus, self.seed, self.count, self.made = corpus, seed, count, {}
        self.special = []

    def batch(self, index):
        size = min(BATCH, self.count - index * BATCH)
        if index not in self.made:
            random.seed(f"{self.seed} {index}")
            kinds = random.choices(list(KINDS), KINDS.values(), k=size)
            self.made[index] = [None if kind is with_special_tokens else kind(self).replace("\0", "") for kind in kinds]
        random.seed(f"{self.seed} {index} special")
        special = with_special_tokens if self.special else from_words
        return [text if text is not None else special(self).replace("\0", "") for text in self.made[index]]

    def batches(self):
        return (self.batch(index) for index in range((self.count + BATCH - 1) // BATCH))


def characters(text, spans):
    """Spans in bytes as spans in characters. One that does not end with a character gets a half."""
    starts = (numpy.frombuffer(text, dtype=numpy.uint8) & 0xc0) != 0x80
    before = numpy.concatenate(([0], numpy.cumsum(starts)))
    whole = numpy.append(starts, True)
    at = numpy.where(whole, before, before - .5)
    return [tuple(int(end) if end.is_integer() else end for end in span) for span in at[spans].tolist()]


class Yoke:
    """What oracle-tokenize_strings answers."""

    def __init__(self, program, path):
        self.process = subprocess.Popen([program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)

    def read(self, count):
        data = self.process.stdout.read(count)
        if len(data) != count:
            self.process.kill()
            raise SystemExit(self.process.stderr.read().decode().strip() or "oracle-tokenize_strings ended")
        return data

    def numbers(self, count):
        return numpy.frombuffer(self.read(4 * count), dtype=numpy.int32)

    def strings(self, count):
        lengths = self.numbers(count)
        data, ends = self.read(int(lengths.sum())), numpy.cumsum(lengths)
        return [data[end - length:end] for end, length in zip(ends.tolist(), lengths.tolist())]

    def encode(self, texts, mode):
        """Of each text the ids, or None with a message, both decoded texts as bytes, and offsets in characters."""
        encoded = [text.encode() for text in texts]
        header = numpy.array([len(texts), *mode, *map(len, encoded)], dtype=numpy.int32)
        try:
            self.process.stdin.write(header.tobytes() + b"".join(encoded))
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        counts = self.numbers(len(texts))
        total = int(numpy.maximum(counts, 0).sum())
        ids = self.numbers(total).tolist()
        spans = self.numbers(2 * total).reshape(-1, 2) if mode[1] else None
        whole, bare, begin, results = self.strings(len(texts)), self.strings(len(texts)), 0, []
        for text, count, *decoded in zip(encoded, counts.tolist(), whole, bare):
            end = begin + max(count, 0)
            results.append((None if count < 0 else ids[begin:end], *decoded,
                            characters(text, spans[begin:end]) if mode[1] else None))
            begin = end
        return results

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Oracle:
    def __init__(self, path):
        self.tokenizer = Tokenizer.from_file(str(path))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def encode(self, texts, mode):
        """A text that tokenizers fail to encode has no ids."""
        special, offsets = mode
        method = self.tokenizer.encode_batch if offsets else self.tokenizer.encode_batch_fast
        try:
            found = method(texts, add_special_tokens=special)
        except BaseException as error:  # a panic is no Exception
            if isinstance(error, KeyboardInterrupt) or len(texts) == 1:
                if isinstance(error, KeyboardInterrupt):
                    raise
                return [(None, b"", b"", None)]
            middle = len(texts) // 2
            return self.encode(texts[:middle], mode) + self.encode(texts[middle:], mode)
        ids = [one.ids for one in found]
        return [(one, whole.encode(), bare.encode(), spans) for one, whole, bare, spans in
                zip(ids, self.tokenizer.decode_batch(ids, skip_special_tokens=False),
                    self.tokenizer.decode_batch(ids, skip_special_tokens=True),
                    [one.offsets if offsets else None for one in found])]


class Comparison:
    """One tokenizer read by both."""

    def __init__(self, path, arguments):
        self.path, self.arguments = path, arguments
        self.oracle = Oracle(path)
        self.yoke = Yoke(arguments.program, path)
        self.different, self.failed, self.count = [], 0, 0

    def differs(self, text, mode):
        return self.yoke.encode([text], mode) != self.oracle.encode([text], mode)

    def minimise(self, text, mode):
        """The text without all the parts that can go while it still differs."""
        length = len(text) // 2
        while length > 0:
            at = 0
            while at < len(text):
                shorter = text[:at] + text[at + length:]
                if shorter and self.differs(shorter, mode):
                    text = shorter
                else:
                    at += length
            length //= 2
        return text

    def compare(self, texts, mode):
        for text, ours, theirs in zip(texts, self.yoke.encode(texts, mode), self.oracle.encode(texts, mode)):
            if theirs[0] is None:
                self.failed += 1
            elif ours != theirs:
                self.different.append((text, mode))

    def describe(self, text, mode):
        text = self.minimise(text, mode)
        (ours,), (theirs,) = self.yoke.encode([text], mode), self.oracle.encode([text], mode)
        frame = "" if mode[0] else " without special tokens"
        if ours[0] is None:
            return f"{text!r}{frame}: {ours[1].decode()}; tokenizers {theirs[0]}"
        if ours[0] != theirs[0]:
            names = [[self.oracle.tokenizer.id_to_token(one) for one in ids] for ids in (ours[0], theirs[0] or [])]
            return f"{text!r}{frame}: yoke {ours[0]} {names[0]}, tokenizers {theirs[0]} {names[1]}"
        if ours[1:3] == theirs[1:3]:
            return f"{text!r} {ours[0]} offsets: yoke {ours[3]}, tokenizers {theirs[3]}"
        which = 1 if ours[1] != theirs[1] else 2
        kind = "decoded" if which == 1 else "decoded without special tokens"
        return (f"{text!r} {ours[0]} {kind}: yoke {ours[which].decode(errors='replace')!r}, "
                f"tokenizers {theirs[which].decode()!r}")

    def run(self, source):
        source.special = sorted({token.content for token in self.oracle.tokenizer.get_added_tokens_decoder().values()})
        for texts in source.batches():
            self.compare(texts, OFTEN)
            self.compare(texts[::EVERY], RARELY)
            self.count += len(texts)
            if len(self.different) > self.arguments.stop:
                break
        seen, examples = set(), []
        for text, mode in self.different:
            if len(examples) >= self.arguments.examples:
                break
            line = self.describe(text, mode)
            if line not in seen:
                seen.add(line)
                examples.append(line)
        return examples


def compare_folder(folder, source, arguments):
    path = folder / "tokenizer.json" if folder.is_dir() else folder
    begin = time.time()
    comparison = Comparison(path, arguments)
    try:
        examples = comparison.run(source)
    finally:
        comparison.yoke.close()
    failed = f", {comparison.failed} that tokenizers refuse" if comparison.failed else ""
    print(f"{folder.name}: {comparison.count} strings, {len(comparison.different)} differ{failed} "
          f"({time.time() - begin:.0f} s)", flush=True)
    for example in examples:
        print(f"    {example}", flush=True)
    return len(comparison.different)


def main():
    parser = argparse.ArgumentParser(description="Compares yoke's tokens with those of Hugging Face's tokenizers.")
    parser.add_argument("folders", nargs="+", type=pathlib.Path, metavar="FOLDER", help="with a tokenizer.json")
    parser.add_argument("--strings", type=int, default=1000000, metavar="N", help="for each tokenizer (%(default)s)")
    parser.add_argument("--corpus", type=pathlib.Path, nargs="*", default=sorted(ROOT.glob("README*.md")),
                        metavar="FILE", help="text of which parts are taken (the project's own)")
    parser.add_argument("--seed", default="0", help="of the strings (%(default)s)")
    parser.add_argument("--examples", type=int, default=8, metavar="N", help="strings shown (%(default)s)")
    parser.add_argument("--stop", type=int, default=1000, metavar="N", help="differences that suffice (%(default)s)")
    parser.add_argument("--program", type=pathlib.Path, default=PROGRAM, help="oracle-tokenize_strings (%(default)s)")
    arguments = parser.parse_args()
    source = Source("".join(path.read_text() for path in arguments.corpus), arguments.seed, arguments.strings)
    failed = 0
    for folder in arguments.folders:
        try:
            failed += compare_folder(folder, source, arguments) > 0
        except (Exception, SystemExit) as error:
            failed += 1
            print(f"{folder.name}: FAILED: {error}", flush=True)
    sys.exit(f"{failed} of {len(arguments.folders)} differ" if failed else 0)


main()
