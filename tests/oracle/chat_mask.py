"""Which tokens of a conversation the assistant says, by the rules of src/tokenizer/chat/chat_mask.h.

With {% generation %} blocks, transformers itself says it. Without them, this is a second implementation of
the rules, on Python's strings, against which the one in C is held.
"""
import re


def common(a, b):
    """The length of the common beginning."""
    count = 0
    for x, y in zip(a, b):
        if x != y:
            break
        count += 1
    return count


class Unfound(Exception):
    """The rules do not say where an answer stands."""


def attempt(render, messages, prompt):
    try:
        return render(messages, prompt)
    except Exception:
        return None


def content_of(message):
    content = message.get("content")
    return content.strip() if isinstance(content, str) else ""


def include_content(message, whole, floor, begin):
    """If the last characters before `begin` are the beginning of the content, the part begins there."""
    content = content_of(message)
    for back in range(min(len(content), begin - floor + 1)):
        if len(whole[begin - back:begin].encode()) > 64:
            break
        if whole.startswith(content, begin - back):
            return begin - back
    return begin


def after_content(whole, start, content, tail):
    """Behind the first content + tail, else behind the first content and what follows it of the tail."""
    found = whole.find(content + tail, start)
    if found >= 0:
        return found + len(content) + len(tail), found
    found = whole.find(content, start)
    if found < 0:
        return None, None
    behind = found + len(content)
    return behind + common(tail, whole[behind:]), found


def find_begin(render, messages, index, whole, end, base):
    message = messages[index]
    prompt = attempt(render, messages[:index], True)
    if prompt is not None and whole.startswith(prompt):
        return len(prompt), prompt
    before = attempt(render, messages[:index], False)
    follows = before is not None and whole.startswith(before)
    if prompt is None:
        content = content_of(message)
        found = len(before) if follows else whole.find(content, end) if content else -1
        if found < 0:
            raise Unfound
        return found, None
    if follows:
        return include_content(message, whole, len(before), max(len(before), common(prompt, whole))), prompt
    if prompt.startswith(base) and whole.startswith(prompt[len(base):], end):
        return end + len(prompt) - len(base), prompt
    previous = content_of(messages[index - 1]) if index > 0 else ""
    place = prompt.rfind(previous) if previous else -1
    if place >= 0:
        begin, found = after_content(whole, end, previous, prompt[place + len(previous):])
        if begin is not None:
            return include_content(message, whole, found + len(previous), begin), prompt
    if prompt.startswith(base):
        begin = end + common(prompt[len(base):], whole[end:])
    else:
        begin = max(end, common(prompt, whole))
    return include_content(message, whole, end, begin), prompt


def find_end(render, messages, index, whole, begin, prompt, base):
    turn = attempt(render, messages[:index + 1], False)
    if turn is None:
        raise Unfound
    if whole.startswith(turn):
        return len(turn), turn
    answer = common(prompt, turn) if prompt is not None else min(len(base), len(turn))
    content = content_of(messages[index])
    place = turn.rfind(content, answer) if content else -1
    if place >= 0:
        end, _ = after_content(whole, begin, content, turn[place + len(content):])
        if end is not None:
            return end, turn
    same = common(turn[answer:], whole[begin:])
    said, rest = turn[answer + same:], whole[begin + same:]
    for length in range(min(len(said), len(rest)), 0, -1):
        if said.endswith(rest[:length]) and rest[:length].strip():
            return begin + same + length, turn
    following = content_of(messages[index + 1]) if index + 1 < len(messages) else ""
    limit = whole.find(following, begin + same) if following else -1
    if said.strip() and limit >= 0:
        found = whole.find(said, begin + same, limit)
        if found >= 0:
            return found + len(said), turn
    if whole[begin:begin + same].strip():
        return begin + same, turn
    raise Unfound


def answers(render, messages, completion=None):
    """The parts of the rendering that are answers, as pairs of characters. `render(messages, prompt)` is
    apply_chat_template() without tokens; `completion` is the index of the first message of a completion."""
    whole = render(messages, False)
    if completion is not None:
        begin, _ = find_begin(render, messages, completion, whole, 0, "")
        return [(begin, len(whole))]
    parts, end, base = [], 0, ""
    for index, message in enumerate(messages):
        if message["role"] == "assistant":
            begin, prompt = find_begin(render, messages, index, whole, end, base)
            end, base = find_end(render, messages, index, whole, begin, prompt, base)
            if end < begin:
                raise Unfound
            parts.append((begin, end))
    return parts


def has_blocks(template):
    return re.search(r"\{%[-+]?\s*generation\s*[-+]?%\}", template) is not None


def mask_of(offsets, parts):
    """Whether each token shares a character with a part."""
    return [int(any(begin < end and begin < stop and end > start for start, stop in parts))
            for begin, end in offsets]
