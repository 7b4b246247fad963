"""Compares yoke's rendering of chat templates with transformers'.

    tools/build release oracle-render_templates
    python tests/oracle/compare_templates.py FOLDER [--driver PROGRAM] [--speed]

Each *.jinja file of FOLDER is rendered for twenty conversations, with and without a generation prompt, by transformers
(render_jinja_template) and by yoke. Texts and the parts that {% generation %} blocks wrote must be identical, and where
transformers raises an exception, yoke must fail as well. With --speed, the time of both is measured instead.
"""

import argparse
import copy
import datetime
import json
import pathlib
import subprocess
import sys
import time

import transformers.utils.chat_template_utils as chat_template_utils
from transformers.utils.chat_template_utils import render_jinja_template

NOW = 1750000000  # what strftime_now() says

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather of a place.\nNow, or <later> & 'soon'.",
            "parameters": {
                "type": "object",
                "properties": {
                    "place": {"type": "string", "description": "Where, e.g. Zürich"},
                    "days": {"type": "integer", "default": 1, "enum": [1, 2, 3]},
                    "units": {"type": ["string", "null"], "enum": ["C", "F"]},
                    "points": {"type": "array", "items": {"type": "number"}},
                    "more": {
                        "type": "object",
                        "properties": {"exact": {"type": "boolean", "description": "yes or no"}},
                        "required": ["exact"],
                    },
                },
                "required": ["place"],
            },
            "return": {"type": "string", "description": "a text"},
        },
    },
    {
        "type": "function",
        "function": {"name": "stop", "description": "Stops.", "parameters": {"type": "object", "properties": {}}},
    },
]

DOCUMENTS = [
    {"title": "One", "text": "The first text.", "id": 1, "contents": "The first text."},
    {"title": "Zwei ü", "text": 'The "second".', "id": 2, "contents": "x"},
]


def message(role, content, **more):
    return {"role": role, "content": content, **more}


def call(arguments, identifier="abcdefghi", name="get_weather"):
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}


QUESTION = message("user", "What is 2 + 2?")
ANSWER = message("assistant", "It is 4.")
SYSTEM = message("system", "You are brief.")
DICT_CALL = call({"place": "Paris", "days": 2, "points": [1, 2.5], "more": {"exact": True}, "units": None})
TEXT_CALL = call('{"place": "Paris", "days": 2}')
RESULT = message("tool", '{"t": 21.5}', name="get_weather", tool_call_id="abcdefghi")

CONVERSATIONS = {
    "one question": dict(messages=[QUESTION]),
    "system": dict(messages=[SYSTEM, QUESTION]),
    "answered": dict(messages=[SYSTEM, QUESTION, ANSWER]),
    "three turns": dict(
        messages=[QUESTION, ANSWER, message("user", " And 3 + 3? \n"), message("assistant", "\n\n6 "), QUESTION]
    ),
    "tools given": dict(messages=[SYSTEM, QUESTION], tools=TOOLS),
    "tools, no system": dict(messages=[QUESTION, ANSWER, QUESTION], tools=TOOLS),
    "tool call, dict": dict(
        messages=[SYSTEM, QUESTION, message("assistant", "", tool_calls=[DICT_CALL]), RESULT, ANSWER], tools=TOOLS
    ),
    "tool call, text": dict(
        messages=[QUESTION, message("assistant", None, tool_calls=[TEXT_CALL]), RESULT], tools=TOOLS
    ),
    "two tool calls": dict(
        messages=[
            QUESTION,
            message("assistant", "I look.", tool_calls=[DICT_CALL, call({}, "bcdefghij", "stop")]),
            RESULT,
            message("tool", "done", name="stop", tool_call_id="bcdefghij"),
            ANSWER,
            QUESTION,
        ],
        tools=TOOLS,
    ),
    "call without content": dict(messages=[QUESTION, {"role": "assistant", "tool_calls": [DICT_CALL]}, RESULT]),
    "thoughts": dict(messages=[QUESTION, message("assistant", "4", reasoning_content="2 and 2\nmake 4"), QUESTION]),
    "thoughts in the text": dict(
        messages=[QUESTION, message("assistant", "<think>\n2 and 2\n</think>\n\n4"), message("user", "Sure?")]
    ),
    "thinking off": dict(messages=[SYSTEM, QUESTION], enable_thinking=False, thinking=False, reasoning_effort="low"),
    "thinking on": dict(messages=[SYSTEM, QUESTION, ANSWER, QUESTION], enable_thinking=True, thinking=True),
    "thoughts with a call": dict(
        messages=[
            QUESTION,
            message("assistant", "", reasoning_content="I should look.", tool_calls=[DICT_CALL]),
            RESULT,
            message("assistant", "It is 21.5.", thinking="done"),
        ],
        tools=TOOLS,
        enable_thinking=True,
    ),
    "empty texts": dict(messages=[message("system", ""), message("user", ""), message("assistant", "")]),
    "parts": dict(
        messages=[
            message("user", [{"type": "text", "text": "What is this?"}, {"type": "image"}, {"type": "text", "text": "?"}]),
            message("assistant", [{"type": "text", "text": "A cat."}]),
        ]
    ),
    "unicode": dict(
        messages=[message("system", "Sei höflich 🙂"), message("user", "你好\u3000'世界' \"\\\" \u2028\u00a0"), message("assistant", "Привет\t\r\n")]
    ),
    "documents": dict(messages=[SYSTEM, QUESTION], documents=DOCUMENTS, citations=True),
    "other roles": dict(messages=[message("developer", "Be brief."), QUESTION, ANSWER, ANSWER, message("function", "x")]),
}

TOKENS = {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "pad_token": "<pad>",
    "image_token": "<image>",
    "video_token": "<video>",
}


class FixedTime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(NOW, tz)


def variables_of(conversation, prompt):
    """What render_jinja_template gives to a template, as JSON."""
    variables = {**TOKENS, "tools": None, "documents": None, **copy.deepcopy(conversation)}
    variables["messages"] = chat_template_utils._alias_reasoning_fields(variables["messages"])
    variables["add_generation_prompt"] = prompt
    return variables


def render_with_transformers(template, conversation, prompt):
    """Returns the text and the generations in bytes, or the exception."""
    variables = {**TOKENS, **copy.deepcopy(conversation)}
    chat = variables.pop("messages")
    try:
        texts, generations = render_jinja_template(
            conversations=[chat],
            chat_template=template,
            return_assistant_tokens_mask=True,
            add_generation_prompt=prompt,
            **variables,
        )
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    text = texts[0]
    spans = [[len(text[:begin].encode()), len(text[:end].encode())] for begin, end in generations[0]]
    return {"text": text, "generations": spans}


class Yoke:
    def __init__(self, driver, repeats=None):
        command = [driver] + ([str(repeats)] if repeats else [])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def render(self, template, variables):
        request = {"template": template, "variables": variables, "time": NOW}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def compare(files, yoke):
    different = rendered = raised = generations = 0
    for file in files:
        template = file.read_text()
        for name, conversation in CONVERSATIONS.items():
            for prompt in (False, True):
                expected = render_with_transformers(template, conversation, prompt)
                given = yoke.render(template, variables_of(conversation, prompt))
                given.pop("seconds", None)
                rendered += 1
                raised += "error" in expected
                generations += len(expected.get("generations", []))
                if given == expected or ("error" in given and "error" in expected):
                    continue
                different += 1
                print(f"{file.name}, {name}, prompt {prompt}:\n  expected {expected}\n  given    {given}")
    print(
        f"{len(files)} templates, {rendered} renderings, of which {raised} raise, {generations} generations: "
        f"{different} differ"
    )
    return different


def measure(files, driver):
    repeats = 200
    yoke = Yoke(driver, repeats)
    theirs = ours = 0.0
    size = count = 0
    for file in files:
        template = file.read_text()
        compiled = None
        for conversation in CONVERSATIONS.values():
            variables = variables_of(conversation, True)
            try:
                compiled = chat_template_utils._compile_jinja_template(template)
                text = compiled.render(**variables)
            except Exception:
                continue
            begin = time.perf_counter()
            for _ in range(repeats // 10):
                compiled.render(**variables)
            theirs += (time.perf_counter() - begin) / (repeats // 10)
            ours += yoke.render(template, variables)["seconds"]
            size += len(text.encode())
            count += 1
    print(
        f"{count} conversations, {size / 1e6:.2f} MB: jinja2 {size / theirs / 1e6:.1f} MB/s, {count / theirs:.0f} "
        f"conversations/s; yoke {size / ours / 1e6:.1f} MB/s, {count / ours:.0f} conversations/s; {theirs / ours:.1f}×"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--driver", default="build/release/tests/oracle-render_templates")
    parser.add_argument("--speed", action="store_true")
    options = parser.parse_args()
    files = sorted(options.folder.glob("*.jinja"))
    chat_template_utils.datetime = FixedTime
    if options.speed:
        measure(files, options.driver)
        return
    sys.exit(1 if compare(files, Yoke(options.driver)) or not files else 0)


if __name__ == "__main__":
    main()
