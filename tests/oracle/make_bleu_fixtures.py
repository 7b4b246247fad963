#!/usr/bin/env python3
"""Asks sacreBLEU for the tokens and scores of made-up translations, as the cases that the tests of
data/bleu and data/tokens_13a replay.

    python3 -m venv /tmp/oracle && /tmp/oracle/bin/pip install sacrebleu==2.6.0
    /tmp/oracle/bin/python tests/oracle/make_bleu_fixtures.py            # writes tests/data/fixtures/bleu
    /tmp/oracle/bin/python tests/oracle/make_bleu_fixtures.py --check    # compares with what is there
    ... make_bleu_fixtures.py --score HYPOTHESES REFERENCES              # prints the score of two files

CASE.json holds "sentences", each as [hypothesis, reference, its tokens, the other's tokens], and under
"mixed" and "lc" the corpus' score by the default rules and without regard to case: score, precisions, bp,
lengths, counts and totals, the line that sacreBLEU prints and its signature. lowercase.json holds pairs
of a text and what str.lower() makes of it.
"""
import argparse
import json
import pathlib
import random
import sys

from sacrebleu.metrics import BLEU
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "data" / "fixtures" / "bleu"

SENTENCES = """\
The two oxen pulled the cart up the hill, although one of them was older.
"How much is it?", she asked; he said: $1,250.50 (plus 19% tax).
Mr. O'Neill doesn't live at 10-12 Baker St. any more, does he?
The state-of-the-art model needs 3.5GB -- or 7,000,000 tokens -- a day...
See https://example.org/a_b?c=1&d=2#e or write to someone@example.org!
On 2024-05-17 at 08:30, the temperature was -3.2 degrees.
AT&amp;T and R&amp;D use &lt;b&gt; and &quot;quotes&quot;, don&apos;t they?
Zwei Ochsen zogen den Karren den Hügel hinauf, obwohl einer älter war.
„Wie viel kostet das?“, fragte sie; er sagte: 1.250,50 € (zzgl. 19 % MwSt.).
Die Straße ist am 17.05.2024 gesperrt; Fußgänger dürfen z. B. über die Brücke.
Deux bœufs tiraient la charrette en haut de la colline, bien que l'un d'eux fût plus âgé.
« Combien ça coûte ? » demanda-t-elle ; c’était 1 250,50 €.
Два вола тянули повозку на холм, хотя один из них был старше.
«Сколько это стоит?» — спросила она; 1250,50 руб., не больше.
Δύο βόδια τραβούσαν το κάρο στον λόφο, αν και το ένα ήταν πιο γέρικο.
ΟΔΥΣΣΕΥΣ ΚΑΙ ΠΗΝΕΛΟΠΗ: Ο ΣΟΦΟΣ ΒΑΣΙΛΕΥΣ.
두 마리의 소가 언덕 위로 수레를 끌었지만, 한 마리는 더 늙었다.
"얼마예요?"라고 그녀가 물었다. 1,250원입니다.
二頭の牛が荷車を丘の上まで引いたが、一頭は年を取っていた。
「いくらですか？」と彼女は聞いた。1,250円です。
两头牛把车拉上了山，虽然其中一头比较老。
“多少钱？”她问道；他说：1,250.50元（含税）。
سحب ثوران العربة إلى أعلى التل، رغم أن أحدهما كان أكبر سنًا.
דו שוורים משכו את העגלה במעלה הגבעה, אף שאחד מהם היה זקן יותר.
İki öküz arabayı tepeye çekti; IŞIK ve ISI, İSTANBUL'da.
दो बैलों ने गाड़ी को पहाड़ी पर खींचा, हालाँकि एक बूढ़ा था।
Dos bueyes tiraron del carro cuesta arriba, ¿verdad? ¡Sí, claro!
Dwa woły ciągnęły wóz pod górę, choć jeden był starszy (o 3 lata).
A grade of 9.5-10 is 1st; 5-4=1, 2,-3 and 4.,5 are odd, as is .5 or 5.
Emoji 🐂🐂 pull, too: 🚜... ½ of it, 3² times; naïve café—well.
""".splitlines()

# What the rules of 13a look at, and what must pass by them.
PIECES = (list("0123456789") + list(".,-.,-.,-") + list("!\"#$%&'()*+/:;<=>?@[\\]^_`{|}~")
          + ["a", "b", "Z", "é", "ß", "中", "。", "、", "–", "…", "🐂", "٣", "½"]
          + [" "] * 12 + ["\u00a0", "\u2003", "\u3000", "\u200b", "\u0085", "\u2028", "\x1c", "\t", "\r", "\x0b"]
          + ["&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", "&amp;amp;quot;", "&apos;", "<skipped>",
             "<skip<skipped>ped>", "-\n", "\n", "--\n"])

LOWER = SENTENCES + [s.upper() for s in SENTENCES] + [
    "ΣΑΣ", "Σ", "ΑΣ.", "ΑΣ.Α", "ΑΣ Α", "Α'Σ", "Σ.Α", "ΟΣ΄", "ΑΣ\u0301", "ΑΣ\u0301Β", "1Σ", "ΑΣ1", "ἈΡΕΤΉΣ", "ΣΣ ΣΣ",
    "İ", "I", "DŽ Dž ǅ", "ẞ", "Ꭰ", "Ⅷ", "Ω K Å", "𐐀", "ＡＢＣ", "Ⰰ", "Ა", "Ꟗ"]


def disturb(sentence, rng, rate):
    """Words dropped, doubled, swapped, cut or in other case, each now and then."""
    words = sentence.split(" ")
    out = []
    for word in words:
        draw = rng.random()
        if draw < rate:
            continue
        out.append(word)
        if draw < 1.3 * rate:
            out.append(word)
        elif draw < 1.6 * rate:
            out[-1] = word.upper()
        elif draw < 1.9 * rate:
            out[-1] = word[:-1] or word
        elif draw < 2.4 * rate and len(out) > 1:
            out[-1], out[-2] = out[-2], out[-1]
    return " ".join(out)


def scatter(rng, count, length):
    return ["".join(rng.choice(PIECES) for _ in range(rng.randrange(length))) for _ in range(count)]


def corpora():
    rng = random.Random(13)
    all_of_them = [(disturb(s, rng, 0.12), s) for s in SENTENCES]
    yield "languages", all_of_them
    yield "languages-worse", [(disturb(s, rng, 0.35), s) for s in SENTENCES]
    yield "identical", [(s, s) for s in SENTENCES[:8]]
    left = scatter(rng, 150, 40)
    yield "punctuation", [(a, disturb(a, rng, 0.1)) for a in left]
    yield "some-empty", [("", s) if i % 3 == 0 else (s, "") if i % 7 == 0 else (disturb(s, rng, 0.1), s)
                         for i, s in enumerate(SENTENCES[:20])]
    yield "all-empty", [("", s) for s in SENTENCES[:3]]
    yield "both-empty", [("", ""), (" \u3000\t", "\u00a0")]
    yield "nothing-right", [("xyzzy plugh quux corge", s) for s in SENTENCES[7:12]]
    yield "no-pairs-right", [("hill the up cart the pulled oxen", SENTENCES[0])]
    yield "no-fours-right", [("the two red oxen pulled the big cart", "The two oxen pulled the cart .")]
    yield "single-words", [("oxen", "oxen"), ("cart", "carts"), ("hill", "hill")]
    yield "three-words", [("the red cart", "the red cart"), ("two", "two oxen")]
    yield "one-short", [("It is a cart.", "It is the cart.")]
    yield "longer", [(s + " and so on and so forth", s) for s in SENTENCES[:6]]
    yield "repeated", [("the the the the the the the", "the cat is on the mat"),
                       ("on the mat on the mat", "the cat is on the mat")]
    words = ["a", "b", "c", "d,", "e.", "1.5", "2-3"]
    line = [rng.choice(words) for _ in range(1500)]
    other = [w if rng.random() > 0.2 else rng.choice(words) for w in line]
    yield "one-long", [(" ".join(other), " ".join(line))]


def score_of(pairs, lowercase):
    metric = BLEU(lowercase=lowercase)
    # Lists of texts are rstripped by the metric itself.
    bleu = metric.corpus_score([p[0] for p in pairs], [[p[1] for p in pairs]])
    return {"score": bleu.score, "precisions": bleu.precisions, "bp": bleu.bp, "sys_len": bleu.sys_len,
            "ref_len": bleu.ref_len, "counts": [int(c) for c in bleu.counts],
            "totals": [int(t) for t in bleu.totals], "line": str(bleu), "signature": str(metric.get_signature())}


def cases():
    tokenize = Tokenizer13a()
    for name, pairs in corpora():
        yield name, {
            "sentences": [[h, r, tokenize(h.rstrip()), tokenize(r.rstrip())] for h, r in pairs],
            "mixed": score_of(pairs, False),
            "lc": score_of(pairs, True),
        }
    yield "lowercase", {"texts": [[text, text.lower()] for text in LOWER]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--score", nargs=2, metavar=("HYPOTHESES", "REFERENCES"))
    arguments = parser.parse_args()
    if arguments.score:
        texts = [open(path, encoding="utf-8", newline="\n").read().split("\n")[:-1] for path in arguments.score]
        for lowercase in (False, True):
            metric = BLEU(lowercase=lowercase)
            bleu = metric.corpus_score(texts[0], [texts[1]])
            print(bleu, bleu.score, metric.get_signature())
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for name, case in cases():
        text = json.dumps(case, ensure_ascii=False, indent=0) + "\n"
        path = FOLDER / f"{name}.json"
        if not arguments.check:
            path.write_text(text, encoding="utf-8", newline="\n")
        elif json.loads(path.read_text(encoding="utf-8")) != json.loads(text):
            print(f"{path} differs")
            wrong = 1
    sys.exit(wrong)


if __name__ == "__main__":
    main()
