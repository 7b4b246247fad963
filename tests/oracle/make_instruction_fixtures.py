#!/usr/bin/env python3
"""Asks Hugging Face for the tokens of instructions, as the cases that the test of data/instructions replays.

    python3 -m venv /tmp/oracle && /tmp/oracle/bin/pip install transformers==5.22.2 tokenizers==0.23.1 jinja2
    /tmp/oracle/bin/python tests/oracle/make_instruction_fixtures.py            # writes the file below
    /tmp/oracle/bin/python tests/oracle/make_instruction_fixtures.py --check    # compares with what is there

tests/data/fixtures/instructions.json holds the text of a tokenizer.json, a small one with Llama 3's cuts,
special tokens and frame, and "lines": the text of each, its "ids", and in "mask" which of them bear loss.
Chats are what apply_chat_template() makes in Llama 3's form, the assistant's content and the end of its
turn being marked as generated; other templates are in make_conversation_fixtures.py. Prompts and completions are joined here as TRL joins them, and
Alpaca's as its training script does.
"""
import argparse
import json
import pathlib
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

FILE = pathlib.Path(__file__).resolve().parent.parent / "data" / "fixtures" / "instructions.json"

SPECIAL = ["<|begin_of_text|>", "<|end_of_text|>", "<|finetune_right_pad_id|>",
           "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]

# Llama 3's cuts, from its tokenizer.json.
CUTS = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+")

# Llama 3's form, in our words, with what the assistant says marked.
TEMPLATE = """{{- bos_token -}}
{%- for message in messages -%}
    {{- '<|start_header_id|>' ~ message.role ~ '<|end_header_id|>\\n\\n' -}}
    {%- if message.role == 'assistant' -%}
        {%- generation -%}{{- message.content | trim ~ '<|eot_id|>' -}}{%- endgeneration -%}
    {%- else -%}
        {{- message.content | trim ~ '<|eot_id|>' -}}
    {%- endif -%}
{%- endfor -%}
"""

LEARNED = [
    "The capital of France is Paris, and that of Korea is Seoul.",
    "Write a short story about a dog that learns to read the newspaper.",
    "A response that appropriately completes the request is what we ask for.",
    "What is the sum of 12 and 30? The answer is 42, which isn't much.",
    "You are a helpful assistant who answers in one sentence.",
    "def add(a, b):\n    return a + b\n\n\nprint(add(1, 2))\n",
    "Below is an instruction that describes a task, paired with an input.",
    "서울은 대한민국의 수도이다. 강아지가 신문을 읽는다.",
    "Ein kleiner Hund läuft über die Wiese; er bellt nicht.",
    "First, open the window. Then, close the door. Finally, sit down and read.",
]

CHATS = [
    [("user", "What is the capital of France?"), ("assistant", "The capital of France is Paris.")],
    [("system", "You are a helpful assistant."), ("user", "Hello!"), ("assistant", "Hello, there."),
     ("user", "What's 12 + 30?"), ("assistant", "It's 42.")],
    [("system", "  spaces around \n"), ("user", "\n\n\tWhat?\r\n"),
     ("assistant", " \u3000\u2028\x1c\x85The answer.\u00a0\u205f\n")],
    [("user", "서울은 어떤 도시인가?"), ("assistant", "대한민국의 수도이다. 🙂"),
     ("user", "고마워"), ("assistant", "천만에요!")],
    [("user", "Say <|eot_id|> and <|begin_of_text|>, <|nothing|>."),
     ("assistant", "<|eot_id|> is said<|eot_id|>twice<|eot_id|")],
    [("user", ""), ("assistant", "'s what 123456 is")],
    [("assistant", "I begin."), ("user", "And I end.")],
    [("user", "Write a function."),
     ("assistant", "def add(a, b):\n    return a + b\n\n\n\nprint(add(1, 2))"), ("system", "Stop.")],
    [("user", "!?"), ("assistant", "...\n\n- one\n- two   three\n")],
]

COMPLETIONS = [
    ("What is the capital of France?", " The capital of France is Paris."),
    ("", "A story without a request"),
    ("Write a short story:\n\n", "\nA dog learns to read.\n"),
    ("Say <|eot_id|>", " "),
]

ALPACA = [
    ("Write a short story.", None, "A dog learns to read."),
    ("Add the numbers.", "12 and 30", "42"),
    ("Add no numbers.", "", "0"),
]


def make_tokenizer():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(CUTS), behavior="isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(LEARNED, trainers.BpeTrainer(
        vocab_size=500, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.add_special_tokens([AddedToken(name, special=True, normalized=False)
                                  for name in SPECIAL])
    begin = SPECIAL[0]
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single=f"{begin} $A", pair=f"{begin} $A {begin}:1 $B:1",
                                      special_tokens=[(begin, tokenizer.token_to_id(begin))]),
    ])
    return tokenizer


def join(fast, prompt, completion):
    begun = fast(prompt)["input_ids"]  # framed: with the begin token
    answer = fast(completion, add_special_tokens=False)["input_ids"] + [fast.eos_token_id]
    return {"ids": begun + answer, "mask": [0] * len(begun) + [1] * len(answer)}


def chats(fast):
    for chat in CHATS:
        messages = [{"role": role, "content": content} for role, content in chat]
        made = fast.apply_chat_template(messages, chat_template=TEMPLATE, tokenize=True, return_dict=True,
                                        return_assistant_tokens_mask=True)
        yield {"messages": messages}, {"ids": made["input_ids"], "mask": made["assistant_masks"]}


def completions(fast):
    for prompt, completion in COMPLETIONS:
        yield {"prompt": prompt, "completion": completion, "id": 7}, join(fast, prompt, completion)


def alpaca(fast):
    for instruction, given, output in ALPACA:
        line = {"instruction": instruction, "output": output}
        if given is not None:
            line["input"] = given
        context = ", paired with an input that provides further context" if given else ""
        prompt = (f"Below is an instruction that describes a task{context}. Write a response that "
                  f"appropriately completes the request.\n\n### Instruction:\n{instruction}\n\n")
        prompt += f"### Input:\n{given}\n\n" if given else ""
        yield line, join(fast, prompt + "### Response:", output)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    tokenizer = make_tokenizer()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=SPECIAL[0], eos_token=SPECIAL[1])
    lines = [{"text": json.dumps(line, ensure_ascii=False), **expected}
             for cases in (chats, completions, alpaca) for line, expected in cases(fast)]
    made = {"tokenizer": tokenizer.to_str(), "lines": lines}
    if not arguments.check:
        FILE.parent.mkdir(parents=True, exist_ok=True)
        FILE.write_text(json.dumps(made, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    elif json.loads(FILE.read_text(encoding="utf-8")) != made:
        print(f"{FILE} differs")
        sys.exit(1)


if __name__ == "__main__":
    main()
