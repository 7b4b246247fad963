"""What Hugging Face's tokenizers take for what bench/tokenize/run asks of yoke, as its JSON.

They are given what suits them best: pieces of some kilobytes that end with a line, and a batch of
these without offsets, which one long string would be slower for.
"""

import array
import json
import os
import pathlib
import sys
import time

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

sys.path.append(str(pathlib.Path(__file__).parent.parent))
import devices  # noqa: E402

PIECE = 1 << 13
SHARD_HEADER = 1024
SHARD_TYPES = {20240520: "H", 20240801: "I"}  # by the magic number: 16 and 32 bits


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def pieces_of(text):
    pieces, piece, size = [], [], 0
    for line in text.splitlines(keepends=True):
        piece.append(line)
        size += len(line)
        if size >= PIECE:
            pieces.append("".join(piece))
            piece, size = [], 0
    return pieces + ["".join(piece)]


def report(text, start):
    print(json.dumps({"bytes": len(text.encode()), "seconds": time.perf_counter() - start}))


def device():
    threads = os.environ.get("RAYON_NUM_THREADS", devices.cores())
    print(json.dumps({"device": devices.here(int(threads))}))


def learn(style, tokens, text_path, like):
    """With the special tokens and the words of the file that yoke learned; the merges must agree."""
    text = read(text_path)
    known = json.load(open(like, encoding="utf-8"))
    bare = json.loads(Tokenizer(models.BPE()).to_str())
    bare["pre_tokenizer"] = known["pre_tokenizer"]
    tokenizer = Tokenizer.from_str(json.dumps(bare))
    trainer = trainers.BpeTrainer(
        vocab_size=int(tokens),
        min_frequency=2,
        special_tokens=[token["content"] for token in known["added_tokens"]],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    start = time.perf_counter()
    tokenizer.train_from_iterator([text], trainer)
    report(text, start)
    if json.loads(tokenizer.to_str())["model"]["merges"] != known["model"]["merges"]:
        sys.exit(f"other merges of {style}")


def encode(tokenizer_path, text_path):
    text = read(text_path)
    pieces = pieces_of(text)
    tokenizer = Tokenizer.from_file(tokenizer_path)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    start = time.perf_counter()
    tokenizer.encode_batch_fast(pieces, add_special_tokens=False)
    report(text, start)


TEMPLATE = """{{- bos_token }}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message.role + '<|end_header_id|>\\n\\n' }}
    {%- if message.role == 'assistant' %}
        {%- generation %}{{ message.content | trim + '<|eot_id|>' }}{% endgeneration %}
    {%- else %}
        {{- message.content | trim + '<|eot_id|>' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}
"""


def make_conversations(tokenizer_path, text_path, folder):
    """A model's folder, and conversations of six messages of some lines of the text each."""
    folder = pathlib.Path(folder)
    folder.mkdir()
    (folder / "tokenizer.json").write_bytes(pathlib.Path(tokenizer_path).read_bytes())
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>", "tokenizer_class": "PreTrainedTokenizerFast"}))
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    lines = read(text_path).splitlines(keepends=True)
    messages = [{"role": "assistant" if i % 2 else "user", "content": "".join(lines[8 * i:8 * i + 8])}
                for i in range(len(lines) // 8)]
    with open(folder / "messages.jsonl", "w", encoding="utf-8") as file:
        for i in range(0, len(messages) - 5, 6):
            file.write(json.dumps({"messages": messages[i:i + 6]}) + "\n")


def apply_template(folder, path, **options):
    """What transformers make of each conversation, and in how many seconds, from the lines of JSON on, as yoke's."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    lines = read(path).splitlines()
    start = time.perf_counter()
    made = [tokenizer.apply_chat_template(json.loads(line)["messages"], **options) for line in lines]
    return made, time.perf_counter() - start


def yoke_conversations(folder):
    given = json.load(open(pathlib.Path(folder) / "yoke.json", encoding="utf-8"))
    return given["conversations"], given["bytes"]


def chat(folder, path):
    """Tokens and mask of each conversation; those of yoke are in yoke.json beside it."""
    made, seconds = apply_template(folder, path, return_dict=True, return_assistant_tokens_mask=True)
    given, size = yoke_conversations(folder)
    for ours, theirs in zip(given, made, strict=True):
        if ours["ids"] != theirs["input_ids"] or ours["mask"] != theirs["assistant_masks"]:
            sys.exit("other tokens of a conversation")
    print(json.dumps({"bytes": size, "seconds": seconds}))


def render(folder, path):
    """The text of each conversation alone."""
    made, seconds = apply_template(folder, path, tokenize=False)
    given, size = yoke_conversations(folder)
    if [conversation["text"] for conversation in given] != made:
        sys.exit("another text of a conversation")
    print(json.dumps({"bytes": size, "seconds": seconds}))


def compare(tokenizer_path, text_path, shard_path):
    tokenizer = Tokenizer.from_file(tokenizer_path)
    tokenizer.no_truncation()
    ids = tokenizer.encode(read(text_path), add_special_tokens=False).ids
    with open(shard_path, "rb") as file:
        magic = int.from_bytes(file.read(4), sys.byteorder)
        file.seek(SHARD_HEADER)
        tokens = array.array(SHARD_TYPES[magic], file.read())
    if list(tokens) != ids:
        sys.exit(f"other tokens of {tokenizer_path}")


def kind(tokenizer_path):
    """The model, and whether it works on bytes or on characters, as SentencePiece's do."""
    tokenizer = Tokenizer.from_file(tokenizer_path)
    name = type(tokenizer.model).__name__
    byte_level = "ByteLevel" in str(tokenizer.pre_tokenizer)
    print({"BPE": "byte-level BPE" if byte_level else "SentencePiece BPE"}.get(name, name))


def wordpiece(text_path, output):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=8000, special_tokens=specials, show_progress=False)
    tokenizer.train_from_iterator([read(text_path)], trainer)
    tokenizer.save(output)


if __name__ == "__main__":
    {"learn": learn, "encode": encode, "compare": compare, "kind": kind, "wordpiece": wordpiece,
     "chat": chat, "render": render, "conversations": make_conversations, "device": device}[sys.argv[1]](*sys.argv[2:])
