#!/usr/bin/env python3
"""Holds yoke's chats against transformers': text, tokens and masks of conversations by many templates.

    compare_conversations.py YOKE TOKENIZER TEMPLATE…

TOKENIZER is the folder of a tokenizer (tokenizer.json and tokenizer_config.json), which is read as it stands:
transformers' own classes for some families build another one from its vocabulary. TEMPLATE is a .jinja file or a
folder of them, such as llama.cpp's models/templates. Every template writes each of the conversations below, by
transformers and by `yoke tokenize --chat --json`; where the one raises an exception, so must the other. Masks are
transformers' own for templates with generation blocks, else those of tests/oracle/chat_mask.py.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from transformers import PreTrainedTokenizerFast

import chat_mask

WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "Get the weather of a place <now>, in °C & more",
    "parameters": {"type": "object", "properties": {
        "place": {"type": "string", "description": "a town, such as \"Köln\""},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}}, "required": ["place"]}}}
ADD = {"type": "function", "function": {
    "name": "add", "description": "Add two numbers", "parameters": {
        "type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "integer"}}, "required": ["a", "b"]}}}


def say(*pairs):
    return [{"role": role, "content": content} for role, content in pairs]


def call(name, arguments, identifier="call00001"):
    return {"type": "function", "id": identifier, "function": {"name": name, "arguments": arguments}}


CONVERSATIONS = [
    {"messages": say(("user", "Hello!"), ("assistant", "Hello. How can I help you today?"))},
    {"messages": say(("system", "You are terse."), ("user", "What is 2 + 2?"), ("assistant", "4"))},
    {"messages": say(("user", "Hi"), ("assistant", "Hi"), ("user", "Hi"), ("assistant", "Hi"))},
    {"messages": say(("system", "Answer in Korean."), ("user", "Which city?"), ("assistant", "서울은 대한민국의 수도이다. 🙂"),
                     ("user", "고마워"), ("assistant", "천만에요! 👩‍👩‍👧"))},
    {"messages": say(("user", "  spaces \n"), ("assistant", "\n\n  kept, or not?  \n"), ("user", "\t"),
                     ("assistant", " so "))},
    {"messages": say(("user", "Write code."), ("assistant", "```c\nint main(void)\n{\n\treturn 0;\n}\n```\n\nDone."),
                     ("user", "Shorter."), ("assistant", "```c\nint main(){}\n```"))},
    {"messages": say(("user", "What is <|im_end|> or </s>?"), ("assistant", "<b>Markup</b> & <|eot_id|> {{ braces }} {% x %}"))},
    {"messages": say(("user", "9.9 or 9.11?"), ("assistant", "<think>\n9.90 > 9.11\n</think>\n\n9.9 is larger."),
                     ("user", "Sure?"), ("assistant", "<think>\nYes.\n</think>\n\nYes, I am sure."))},
    {"messages": [{"role": "user", "content": "9.9 or 9.11?"},
                  {"role": "assistant", "reasoning_content": "9.90 > 9.11", "content": "9.9 is larger."},
                  {"role": "user", "content": "Sure?"},
                  {"role": "assistant", "reasoning_content": "Yes.", "content": "Yes, I am sure."}]},
    {"messages": say(("user", "Think?"), ("assistant", "No need.")), "chat_template_kwargs": {"enable_thinking": False}},
    {"tools": [WEATHER, ADD], "messages": say(("user", "Hello!"), ("assistant", "Hello. I have two tools."))},
    {"tools": [WEATHER], "messages": [
        {"role": "system", "content": "Use tools."}, {"role": "user", "content": "Weather in Köln?"},
        {"role": "assistant", "content": "", "tool_calls": [call("get_weather", {"place": "Köln", "unit": "celsius"})]},
        {"role": "tool", "name": "get_weather", "tool_call_id": "call00001", "content": "{\"temperature\": 7.5}"},
        {"role": "assistant", "content": "It is 7.5 °C in Köln."}]},
    {"tools": [ADD], "messages": [
        {"role": "user", "content": "2 + 3, and 4 + 5?"},
        {"role": "assistant", "content": None, "tool_calls": [call("add", {"a": 2, "b": 3}), call("add", {"a": 4.5, "b": 5}, "call00002")]},
        {"role": "tool", "name": "add", "tool_call_id": "call00001", "content": "5"},
        {"role": "tool", "name": "add", "tool_call_id": "call00002", "content": "9.5"},
        {"role": "assistant", "content": "5 and 9.5."}, {"role": "user", "content": "Thanks"},
        {"role": "assistant", "content": "You are welcome."}]},
    {"tools": [ADD], "messages": [
        {"role": "user", "content": "2 + 3?"},
        {"role": "assistant", "content": "I shall add.", "reasoning_content": "A tool helps.",
         "tool_calls": [call("add", "{\"a\": 2, \"b\": 3}")]},
        {"role": "tool", "content": "5", "tool_call_id": "call00001"},
        {"role": "assistant", "reasoning_content": "Got it.", "content": "5"},
        {"role": "user", "content": "And 1 more?"}, {"role": "assistant", "content": "6"}]},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": "In parts, "}, {"type": "text", "text": "two of them."}]},
                  {"role": "assistant", "content": [{"type": "text", "text": "Understood."}]}]},
    {"messages": say(("assistant", "I begin."), ("user", "And I go on."), ("assistant", "And I end."))},
    {"messages": say(("user", "One"), ("user", "Two"), ("assistant", "Three"))},
    {"messages": say(("system", ""), ("user", "Nothing above."), ("assistant", "Right."), ("system", "Stop."),
                     ("user", "Why?"), ("assistant", "I was told to."))},
    {"messages": say(*[pair for i in range(12) for pair in (("user", f"Count: {i}"), ("assistant", f"{i + 1}" * (i + 1)))])},
    {"documents": [{"title": "Yoke", "text": "A yoke joins two animals."}],
     "messages": say(("system", "Use documents."), ("user", "What is a yoke?"), ("assistant", "It joins two animals."))},
]


def expect(tokenizer, template, conversation):
    """Text, tokens and mask, or None where the template raises."""
    variables = conversation.get("chat_template_kwargs", {})

    def render(messages, prompt):
        return tokenizer.apply_chat_template(
            messages, chat_template=template, tools=conversation.get("tools"), documents=conversation.get("documents"),
            add_generation_prompt=prompt, tokenize=False, **variables)

    messages = conversation["messages"]
    text = chat_mask.attempt(render, messages, False)
    if text is None:
        return None
    made = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    if chat_mask.has_blocks(template):
        marked = tokenizer.apply_chat_template(
            messages, chat_template=template, tools=conversation.get("tools"), documents=conversation.get("documents"),
            tokenize=True, return_dict=True, return_assistant_tokens_mask=True, **variables)
        mask = marked["assistant_masks"]
        assert marked["input_ids"] == made["input_ids"]
    else:
        try:
            mask = chat_mask.mask_of(made["offset_mapping"], chat_mask.answers(render, messages))
        except chat_mask.Unfound:
            mask = None
    return {"text": text, "ids": made["input_ids"], "mask": mask}


def run(yoke, folder, conversations):
    lines = "".join(json.dumps(conversation) + "\n" for conversation in conversations)
    path = pathlib.Path(folder) / "conversations.jsonl"
    path.write_text(lines, encoding="utf-8")
    return subprocess.run([yoke, "tokenize", "--tokenizer", folder, "--chat", "--json", path],
                          capture_output=True, text=True, check=False)


def compare(yoke, folder, name, tokenizer, template):
    """Returns the numbers of conversations that are equal, that both refuse, and that differ."""
    expected = [expect(tokenizer, template, conversation) for conversation in CONVERSATIONS]
    written = [i for i, one in enumerate(expected) if one and one["mask"] is not None]
    refused = [i for i, one in enumerate(expected) if not one or one["mask"] is None]
    different = 0
    if written:
        ran = run(yoke, folder, [CONVERSATIONS[i] for i in written])
        given = json.loads(ran.stdout)["conversations"] if ran.returncode == 0 else []
        if ran.returncode != 0:
            print(f"{name}: {ran.stderr.strip()}")
            different += len(written)
        for i, one in zip(written, given):
            for key in ("text", "ids", "mask"):
                if one[key] != expected[i][key]:
                    print(f"{name}: conversation {i}: {key} differs\n  {one[key]!r}\n  {expected[i][key]!r}")
                    different += 1
                    break
    for i in refused:
        ran = run(yoke, folder, [CONVERSATIONS[i]])
        if ran.returncode != 4 or len(ran.stderr.strip().splitlines()) != 1:
            print(f"{name}: conversation {i}: transformers raises, yoke ends with {ran.returncode}: {ran.stderr.strip()}")
            different += 1
    return len(written), len(refused), different


def main():
    yoke, source = sys.argv[1:3]
    tokenizer = PreTrainedTokenizerFast.from_pretrained(source)
    templates = [path for name in sys.argv[3:] for path in
                 (sorted(pathlib.Path(name).glob("*.jinja")) if pathlib.Path(name).is_dir() else [pathlib.Path(name)])]
    totals = [0, 0, 0]
    for path in templates:
        with tempfile.TemporaryDirectory() as folder:
            for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
                if (pathlib.Path(source) / name).exists():
                    shutil.copy(pathlib.Path(source) / name, folder)
            shutil.copy(path, pathlib.Path(folder) / "chat_template.jinja")
            counts = compare(yoke, folder, path.name, tokenizer, path.read_text(encoding="utf-8"))
        print(f"{path.name}: {counts[0]} written, {counts[1]} refused, {counts[2]} differ")
        totals = [a + b for a, b in zip(totals, counts)]
    print(f"{len(templates)} templates: {totals[0]} conversations written, {totals[1]} refused, {totals[2]} differ")
    sys.exit(1 if totals[2] or not templates else 0)


if __name__ == "__main__":
    main()
