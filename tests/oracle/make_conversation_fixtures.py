#!/usr/bin/env python3
"""Asks transformers for the text, tokens and masks of conversations, as the cases that data/conversations_test replays.

    python3 -m venv /tmp/oracle && /tmp/oracle/bin/pip install transformers==5.22.2 tokenizers==0.23.1 jinja2
    /tmp/oracle/bin/python tests/oracle/make_conversation_fixtures.py            # writes the file below
    /tmp/oracle/bin/python tests/oracle/make_conversation_fixtures.py --check    # compares with what is there

tests/data/fixtures/conversations.json holds the text of a tokenizer.json and of a tokenizer_config.json, "lines" of
data, and for each template below its text and in "cases", for each line, what was "rendered", its "ids", and in "mask"
which of them bear loss; or "refused" where the template raises an exception. The templates are ours; each is
written the way that a family of models writes chats. Masks are transformers' own for templates with generation blocks,
else those of tests/oracle/chat_mask.py.
"""
import argparse
import json
import pathlib
import sys

from tokenizers import AddedToken
from transformers import PreTrainedTokenizerFast

import chat_mask
from compare_conversations import ADD, CONVERSATIONS, call, say
from make_instruction_fixtures import make_tokenizer

FILE = pathlib.Path(__file__).resolve().parent.parent / "data" / "fixtures" / "conversations.json"

TURNS = ["<|im_start|>", "<|im_end|>", "<start_of_turn>", "<end_of_turn>", "[INST]", "[/INST]", "<|user|>",
         "<|assistant|>", "<|end|>", "<think>", "</think>"]
CONFIG = {"bos_token": "<|begin_of_text|>", "pad_token": {"content": "<|finetune_right_pad_id|>", "lstrip": False},
          "eos_token": {"__type": "AddedToken", "content": "<|end_of_text|>", "lstrip": False, "normalized": False,
                        "rstrip": False, "single_word": False, "special": True}, "added_tokens_decoder": {}}

TEMPLATES = {
    # Llama's form, with marks of what the assistant says.
    "llama": """{{- bos_token }}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' }}
    {%- if message.role == 'assistant' %}
        {%- generation %}
            {%- if message.tool_calls is defined %}{{ message.tool_calls | tojson }}{% endif %}
            {{- (message.content or '') | trim }}{{ '<|eot_id|>' }}
        {%- endgeneration %}
    {%- else %}
        {{- message['content'] | trim + '<|eot_id|>' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}
""",
    # ChatML, as Qwen 2 has it: a system message of its own, and tools.
    "qwen2": """{%- if messages[0]['role'] != 'system' %}
    {{- '<|im_start|>system\\nYou help.' }}
    {%- if tools %}{% for tool in tools %}{{ '\\n' ~ (tool | tojson) }}{% endfor %}{% endif %}
    {{- '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {{- '<|im_start|>' + message.role + '\\n' }}
    {%- if message.content is string %}{{ message.content }}{% endif %}
    {%- for one in message.tool_calls or [] %}
        {{- '\\n<tool_call>' + one.function.name + ' ' + one.function.arguments | tojson + '</tool_call>' }}
    {%- endfor %}
    {{- '<|im_end|>' + '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
""",
    # As Qwen 3: what was thought is kept in the last answer alone, and thinking can be turned off.
    "qwen3": """{%- set ns = namespace(last=-1) %}
{%- for message in messages %}{% if message.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}{% endfor %}
{%- for message in messages %}
    {%- set content = message.content if message.content is string else '' %}
    {%- set thought = '' %}
    {%- if message.reasoning_content is string %}
        {%- set thought = message.reasoning_content %}
    {%- elif '</think>' in content %}
        {%- set thought = content.split('</think>')[0].split('<think>')[-1].strip('\\n') %}
        {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
    {%- endif %}
    {{- '<|im_start|>' ~ message.role ~ '\\n' }}
    {%- if message.role == 'assistant' and loop.index0 > ns.last and (loop.last or thought) %}
        {{- '<think>\\n' ~ thought ~ '\\n</think>\\n\\n' }}
    {%- endif %}
    {{- content }}
    {%- for one in message.tool_calls or [] %}{{ '\\n' ~ (one.function | tojson) }}{% endfor %}
    {{- '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}
{%- endif %}
""",
    # As Gemma: the system has no turn, roles alternate, and the assistant is called model.
    "gemma": """{{ bos_token }}
{%- if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}
{%- for message in messages %}
    {%- if (message.role == 'user') != (loop.index0 % 2 == 0) %}
        {{- raise_exception('Roles must alternate: user, assistant, user, assistant …') }}
    {%- endif %}
    {{- '<start_of_turn>' + ('model' if message.role == 'assistant' else message.role) + '\\n' }}
    {{- message.content | trim + '<end_of_turn>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}
""",
    # As Mistral: tools stand before the last message of the user, and turns of the assistant end with eos_token.
    "mistral": """{{- bos_token }}
{%- set users = messages | selectattr('role', 'equalto', 'user') | list %}
{%- for message in messages %}
    {%- if message.role == 'user' %}
        {%- if tools and message == users[-1] %}{{ '[TOOLS]' + tools | tojson + '[/TOOLS]' }}{% endif %}
        {{- '[INST]' + message.content + '[/INST]' }}
    {%- elif message.role == 'assistant' %}
        {%- if message.tool_calls is defined %}
            {{- '[CALLS]' + message.tool_calls | map(attribute='function') | list | tojson + eos_token }}
        {%- else %}
            {{- message.content + eos_token }}
        {%- endif %}
    {%- elif message.role == 'tool' %}
        {{- '[RESULT]' + message.content + '[/RESULT]' }}
    {%- else %}
        {{- raise_exception('Only user, assistant and tool roles are supported!') }}
    {%- endif %}
{%- endfor %}
""",
    # As Phi 3: one token for each role, and eos_token after the last message alone.
    "phi3": """{%- for message in messages %}
    {%- if message.role == 'assistant' %}
        {{- '<|assistant|>\\n' + (message.content or '') + '<|end|>\\n' }}
    {%- else %}
        {{- '<|user|>\\n' + message.content + '<|end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% else %}{{ eos_token }}{% endif %}
""",
    # As DeepSeek R1: the prompt for an answer begins a thought that answers of the past do not have.
    "deepseek": """{{- bos_token }}
{%- for message in messages %}
    {%- if message.role == 'assistant' %}
        {{- '<|assistant|>' + (message.content or '').split('</think>')[-1] + '<|end|>' }}
    {%- else %}
        {{- '<|user|>' + message.content }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|><think>\\n' }}{% endif %}
""",
    # Blocks that mark nothing.
    "unmarked": """{% for message in messages %}{{ message.role }}: {{ message.content }}
{% endfor %}{% if false %}{% generation %}never{% endgeneration %}{% endif %}""",
}

SHARE = [
    ({"system": "Be brief.", "conversations": [{"from": "human", "value": "Hello!"}, {"from": "gpt", "value": "Hello."}]},
     {"messages": say(("system", "Be brief."), ("user", "Hello!"), ("assistant", "Hello."))}),
    ({"conversations": [{"from": "human", "value": "2 + 3?"},
                        {"from": "function_call", "value": "{\"name\": \"add\", \"arguments\": {\"a\": 2, \"b\": 3}}"},
                        {"from": "observation", "value": "5"}, {"from": "gpt", "value": "5."}], "tools": json.dumps([ADD])},
     {"messages": [{"role": "user", "content": "2 + 3?"},
                   {"role": "assistant", "content": "", "tool_calls": [
                       {"type": "function", "function": {"name": "add", "arguments": {"a": 2, "b": 3}}}]},
                   {"role": "tool", "content": "5"}, {"role": "assistant", "content": "5."}], "tools": [ADD]}),
    ({"instruction": "Add the numbers.", "input": "12 and 30", "output": "42", "history": [["Hi", "Hello."]]},
     {"messages": say(("user", "Hi"), ("assistant", "Hello."), ("user", "Add the numbers.\n12 and 30"),
                      ("assistant", "42"))}),
    ({"instruction": "Add no numbers.", "input": "", "output": "0"},
     {"messages": say(("user", "Add no numbers."), ("assistant", "0"))}),
    ({"prompt": say(("user", "Hello!")), "completion": say(("assistant", "Hello."))},
     {"messages": say(("user", "Hello!"), ("assistant", "Hello.")), "completion": 1}),
    ({"prompt": say(("user", "2 + 3?")), "completion": [
        {"role": "assistant", "content": None, "tool_calls": [call("add", {"a": 2, "b": 3})]},
        {"role": "tool", "content": "5"}, {"role": "assistant", "content": "5."}], "tools": [ADD]},
     {"messages": [{"role": "user", "content": "2 + 3?"},
                   {"role": "assistant", "tool_calls": [call("add", {"a": 2, "b": 3})]},
                   {"role": "tool", "content": "5"}, {"role": "assistant", "content": "5."}], "tools": [ADD], "completion": 1}),
]


def expect(fast, template, given):
    variables = given.get("chat_template_kwargs", {})
    arguments = {"chat_template": template, "tools": given.get("tools"), "documents": given.get("documents"), **variables}

    def render(messages, prompt):
        return fast.apply_chat_template(messages, add_generation_prompt=prompt, tokenize=False, **arguments)

    text = chat_mask.attempt(render, given["messages"], False)
    if text is None:
        return {"refused": True}
    made = fast(text, add_special_tokens=False, return_offsets_mapping=True)
    completion = given.get("completion")
    if chat_mask.has_blocks(template) and completion is None:
        mask = fast.apply_chat_template(given["messages"], tokenize=True, return_dict=True,
                                        return_assistant_tokens_mask=True, **arguments)["assistant_masks"]
    else:
        mask = chat_mask.mask_of(made["offset_mapping"], chat_mask.answers(render, given["messages"], completion))
    return {"rendered": text, "ids": made["input_ids"], "mask": mask}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    tokenizer = make_tokenizer()
    tokenizer.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in TURNS])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=CONFIG["bos_token"],
                                   eos_token=CONFIG["eos_token"]["content"], pad_token=CONFIG["pad_token"]["content"])
    cases = [(line, line) for line in CONVERSATIONS] + SHARE
    made = {"tokenizer": tokenizer.to_str(), "config": json.dumps(CONFIG),
            "lines": [json.dumps(line, ensure_ascii=False) for line, _ in cases],
            "templates": [{"name": name, "template": template,
                           "cases": [expect(fast, template, given) for _, given in cases]}
                          for name, template in TEMPLATES.items()]}
    if not arguments.check:
        FILE.write_text(json.dumps(made, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    elif json.loads(FILE.read_text(encoding="utf-8")) != made:
        print(f"{FILE} differs")
        sys.exit(1)


if __name__ == "__main__":
    main()
