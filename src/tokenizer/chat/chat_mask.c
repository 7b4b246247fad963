#include "tokenizer/chat/chat_mask.h"

#include "base/array.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_SHARED_BYTES = 64,        /* that a prompt and a content may have in common */
    MAX_OCCURRENCES = 1000,       /* of a content that are looked at */
    MAX_COMPARED_BYTES = 1 << 26, /* of these occurrences */
    MESSAGE_STEPS = 16            /* about as long as it takes to pass a message to the template */
};

/* Limits of the renderings of all beginnings of a conversation, which grow with the square of its
 * messages. The steps take some seconds, and are those of three renderings that reach their limit.
 */
#define MAX_RENDERED_BYTES (UINT64_C(1) << 30)
#define MAX_STEPS (INT64_C(150) * 1000 * 1000)

/* Bytes that someone else owns. */
struct slice {
    const char *bytes;
    size_t length;
};

/* The state of the search. Letters in comments are those of the header. */
struct finder {
    const struct yk_chat_mask_request *request;
    struct slice whole;            /* F */
    struct yk_jinja_output prompt; /* P */
    struct yk_jinja_output before; /* R */
    struct yk_jinja_output turn;   /* Q */
    struct yk_text base;           /* B */
    size_t end;                    /* E */
    uint64_t rendered;             /* bytes of all renderings */
    int64_t steps;                 /* of all renderings */
};

void yk_chat_mask_free_answers(struct yk_chat_answers *answers)
{
    free(answers->items);
    *answers = (struct yk_chat_answers){0};
}

static yk_status add(struct yk_chat_answers *answers, size_t begin, size_t end)
{
    YK_TRY_GROW_ARRAY(answers->items, answers->capacity, answers->count);
    answers->items[answers->count++] = (struct yk_jinja_span){begin, end};
    return YK_OK;
}

/* ---- slices ---- */

static struct slice slice_of(const struct yk_text *text)
{
    return (struct slice){yk_text_chars(text), text->length};
}

static struct slice after(struct slice slice, size_t begin)
{
    return (struct slice){slice.bytes + begin, slice.length - begin};
}

static bool begins_with(struct slice slice, struct slice beginning)
{
    return slice.length >= beginning.length &&
           memcmp(slice.bytes, beginning.bytes, beginning.length) == 0;
}

static bool continues_character(struct slice slice, size_t at)
{
    return at < slice.length && ((unsigned char)slice.bytes[at] & 0xc0) == 0x80;
}

/* The length of the common beginning, in whole characters. */
static size_t common_length(struct slice a, struct slice b)
{
    const size_t most = a.length < b.length ? a.length : b.length;
    size_t at = 0;
    while (at < most && a.bytes[at] == b.bytes[at]) {
        at++;
    }
    while (at > 0 && (continues_character(a, at) || continues_character(b, at))) {
        at--;
    }
    return at;
}

/* The place of the first `wanted` from `begin` on, or SIZE_MAX. */
static size_t find_first(struct slice slice, size_t begin, struct slice wanted)
{
    const char *found = begin <= slice.length ? memmem(slice.bytes + begin, slice.length - begin,
                                                       wanted.bytes, wanted.length)
                                              : NULL;
    return found ? (size_t)(found - slice.bytes) : SIZE_MAX;
}

/* Byte `i` from the beginning, or from the end if `backwards` is true. */
static char byte_at(struct slice slice, size_t i, bool backwards)
{
    return slice.bytes[backwards ? slice.length - 1 - i : i];
}

/* Makes the table of the algorithm of Knuth, Morris and Pratt: (*out)[i] is the length of the
 * longest end of the first i + 1 bytes that is a beginning, too. `slice` is not empty. */
static yk_status make_borders(struct slice slice, bool backwards, size_t **out)
{
    size_t *borders = calloc(slice.length, sizeof *borders);
    YK_TRY_ALLOCATED(borders);
    size_t matched = 0;
    for (size_t i = 1; i < slice.length; i++) {
        const char byte = byte_at(slice, i, backwards);
        while (matched > 0 && byte != byte_at(slice, matched, backwards)) {
            matched = borders[matched - 1];
        }
        matched += byte == byte_at(slice, matched, backwards);
        borders[i] = matched;
    }
    *out = borders;
    return YK_OK;
}

/* Sets `*out` to the place of the last `wanted`, which is not empty, from `begin` on, or to
 * SIZE_MAX. Searches backwards from the end, which takes linear time. */
static yk_status find_last(struct slice slice, size_t begin, struct slice wanted, size_t *out)
{
    size_t *borders = NULL;
    size_t matched = 0;
    YK_TRY(make_borders(wanted, true, &borders));
    *out = SIZE_MAX;
    for (size_t at = slice.length; at-- > begin && *out == SIZE_MAX;) {
        while (matched > 0 && slice.bytes[at] != byte_at(wanted, matched, true)) {
            matched = borders[matched - 1];
        }
        matched += slice.bytes[at] == byte_at(wanted, matched, true);
        *out = matched == wanted.length ? at : SIZE_MAX;
    }
    free(borders);
    return YK_OK;
}

/* Finds the longest end of `left` that is a beginning of `right`. */
static yk_status find_overlap(struct slice left, struct slice right, size_t *out)
{
    right.length = right.length < left.length ? right.length : left.length;
    *out = 0;
    if (right.length == 0) {
        return YK_OK;
    }
    size_t *borders = NULL;
    size_t matched = 0;
    YK_TRY(make_borders(right, false, &borders));
    for (size_t i = 0; i < left.length; i++) {
        while (matched == right.length || (matched > 0 && left.bytes[i] != right.bytes[matched])) {
            matched = borders[matched - 1];
        }
        matched += left.bytes[i] == right.bytes[matched];
    }
    free(borders);
    *out = matched;
    return YK_OK;
}

/* ---- renderings ---- */

static yk_status fail_too_long(void)
{
    return yk_fail(YK_ERROR_INPUT,
                   "the conversation is too long to find its answers by rendering its "
                   "beginnings; shorten it, or mark answers by {%% generation %%} blocks in "
                   "the chat template");
}

/* Fails at once where the renderings are far above the limit. Each answer needs two renderings of
 * the messages up to it, and a template mostly takes as many steps for each message. */
static yk_status check_length(const struct yk_chat_mask_request *request)
{
    const int64_t count = yk_chat_conversation_count(request->conversation);
    int64_t messages = 0; /* of all renderings */
    for (int64_t i = 0; i < count; i++) {
        if (yk_chat_conversation_is_answer(request->conversation, i)) {
            messages += 2 * (i + 1);
        }
    }
    const double steps_each = (double)request->whole->steps / (double)count + MESSAGE_STEPS;
    return messages == 0 || (double)messages * steps_each < 2.0 * MAX_STEPS ? YK_OK
                                                                            : fail_too_long();
}

/* Renders the first `messages` messages. Sets `*rendered` to whether the template could. */
static yk_status render(struct finder *finder, int64_t messages, bool prompt,
                        struct yk_jinja_output *out, bool *rendered)
{
    const struct yk_chat_mask_request *request = finder->request;
    if (messages == 0) { /* transformers renders no empty conversation, either */
        *rendered = false;
        return YK_OK;
    }
    const yk_status status = yk_chat_template_render(
        request->chat, request->conversation,
        (struct yk_chat_template_range){.messages = messages, .prompt = prompt}, out);
    *rendered = status == YK_OK;
    if (status != YK_OK && status != YK_ERROR_INPUT) {
        return status;
    }
    finder->rendered += out->text.length;
    finder->steps += out->steps + messages * MESSAGE_STEPS;
    return finder->rendered <= MAX_RENDERED_BYTES && finder->steps <= MAX_STEPS ? YK_OK
                                                                                : fail_too_long();
}

static struct slice content_of(const struct finder *finder, int64_t index)
{
    const struct yk_json *message =
        yk_json_array_at(finder->request->conversation->messages, (size_t)index);
    const char *text = yk_json_string_value(yk_json_get_member(message, "content"));
    struct slice content = {"", 0};
    if (text) {
        content.bytes = yk_chat_conversation_trim_white_space(text, strlen(text), &content.length);
    }
    return content;
}

static yk_status fail_unfound(int64_t index)
{
    return yk_fail(YK_ERROR_INPUT,
                   "message %" PRId64
                   ": the chat template does not mark answers by {%% generation %%} blocks, and "
                   "where this one stands in the conversation cannot be told from what it renders "
                   "without it; add such blocks to the template",
                   index + 1);
}

/* ---- where an answer begins ---- */

/* If the last bytes before `begin` are the beginning of the content, it begins there. */
static size_t include_content(const struct finder *finder, int64_t index, size_t floor,
                              size_t begin)
{
    const struct slice content = content_of(finder, index);
    for (size_t back = 0; back <= MAX_SHARED_BYTES && back < content.length; back++) {
        if (back > begin - floor) {
            break;
        }
        if (begins_with(after(finder->whole, begin - back), content)) {
            return begin - back;
        }
    }
    return begin;
}

/* The end of the first `content` + `tail`, or of the first `content` and as much of `tail` as
 * follows it; SIZE_MAX if there is none. Sets `*found` to where the content begins. */
static size_t find_end_of_content(struct slice whole, size_t begin, struct slice content,
                                  struct slice tail, size_t *found)
{
    const size_t first = find_first(whole, begin, content);
    size_t at = first;
    const size_t most = MAX_COMPARED_BYTES / (content.length + 1);
    for (size_t i = 0; i < MAX_OCCURRENCES && i <= most && at != SIZE_MAX; i++) {
        if (begins_with(after(whole, at + content.length), tail)) {
            *found = at;
            return at + content.length + tail.length;
        }
        at = find_first(whole, at + 1, content);
    }
    *found = first;
    return first == SIZE_MAX
               ? SIZE_MAX
               : first + content.length + common_length(after(whole, first + content.length), tail);
}

/* F begins neither with P nor with R: rules c to e. */
static yk_status find_changed_begin(const struct finder *finder, int64_t index, size_t *out)
{
    const struct slice whole = finder->whole;
    const struct slice prompt = slice_of(&finder->prompt.text);
    const struct slice base = slice_of(&finder->base);
    const bool continues = begins_with(prompt, base);
    const struct slice added = continues ? after(prompt, base.length) : prompt;
    if (continues && begins_with(after(whole, finder->end), added)) {
        *out = finder->end + added.length;
        return YK_OK;
    }
    const struct slice previous = index > 0 ? content_of(finder, index - 1) : (struct slice){"", 0};
    size_t place = SIZE_MAX;
    if (previous.length > 0) {
        YK_TRY(find_last(prompt, 0, previous, &place));
    }
    if (place != SIZE_MAX) {
        size_t found = 0;
        const size_t begin = find_end_of_content(whole, finder->end, previous,
                                                 after(prompt, place + previous.length), &found);
        if (begin != SIZE_MAX) {
            *out = include_content(finder, index, found + previous.length, begin);
            return YK_OK;
        }
    }
    const size_t common = continues ? finder->end + common_length(added, after(whole, finder->end))
                                    : common_length(prompt, whole);
    *out = include_content(finder, index, finder->end, common > finder->end ? common : finder->end);
    return YK_OK;
}

static yk_status find_begin(struct finder *finder, int64_t index, bool *has_prompt, size_t *out)
{
    bool has_before = false;
    YK_TRY(render(finder, index, true, &finder->prompt, has_prompt));
    const struct slice prompt = slice_of(&finder->prompt.text);
    if (*has_prompt && begins_with(finder->whole, prompt)) {
        *out = prompt.length;
        return YK_OK;
    }
    YK_TRY(render(finder, index, false, &finder->before, &has_before));
    const struct slice before = slice_of(&finder->before.text);
    const bool follows = has_before && begins_with(finder->whole, before);
    if (*has_prompt && follows) {
        const size_t common = common_length(prompt, finder->whole);
        *out = include_content(finder, index, before.length,
                               common > before.length ? common : before.length);
    } else if (*has_prompt) {
        YK_TRY(find_changed_begin(finder, index, out));
    } else if (follows) {
        *out = before.length;
    } else {
        const struct slice content = content_of(finder, index);
        *out = content.length > 0 ? find_first(finder->whole, finder->end, content) : SIZE_MAX;
    }
    return *out == SIZE_MAX ? fail_unfound(index) : YK_OK;
}

/* ---- where it ends ---- */

static bool has_word(const char *bytes, size_t length)
{
    size_t trimmed = 0;
    (void)yk_chat_conversation_trim_white_space(bytes, length, &trimmed);
    return trimmed > 0;
}

/* F does not go on with the content of the message: rules c to e. `said` is the answer in Q. */
static yk_status find_changed_end(const struct finder *finder, int64_t index, size_t begin,
                                  struct slice said, size_t *out)
{
    const struct slice whole = finder->whole;
    const size_t same = common_length(said, after(whole, begin));
    const size_t place = begin + same;
    const struct slice left = after(said, same);
    size_t length = 0;
    YK_TRY(find_overlap(left, after(whole, place), &length));
    if (has_word(whole.bytes + place, length)) {
        *out = place + length;
        return YK_OK;
    }
    const bool is_last = index + 1 == yk_chat_conversation_count(finder->request->conversation);
    const struct slice next = is_last ? (struct slice){"", 0} : content_of(finder, index + 1);
    const size_t limit = next.length > 0 ? find_first(whole, place, next) : SIZE_MAX;
    if (limit != SIZE_MAX && has_word(left.bytes, left.length)) {
        const size_t found = find_first((struct slice){whole.bytes, limit}, place, left);
        if (found != SIZE_MAX) {
            *out = found + left.length;
            return YK_OK;
        }
    }
    *out = place;
    return has_word(whole.bytes + begin, same) ? YK_OK : fail_unfound(index);
}

/* F does not begin with Q. `answer` is the index in Q at which its answer begins. */
static yk_status find_end_in_whole(const struct finder *finder, int64_t index, size_t begin,
                                   size_t answer, size_t *out)
{
    const struct slice turn = slice_of(&finder->turn.text);
    const struct slice content = content_of(finder, index);
    size_t in_turn = SIZE_MAX;
    size_t found = 0;
    if (content.length > 0) {
        YK_TRY(find_last(turn, answer, content, &in_turn));
    }
    *out = SIZE_MAX;
    if (in_turn != SIZE_MAX) {
        *out = find_end_of_content(finder->whole, begin, content,
                                   after(turn, in_turn + content.length), &found);
    }
    return *out != SIZE_MAX ? YK_OK
                            : find_changed_end(finder, index, begin, after(turn, answer), out);
}

static yk_status find_end(struct finder *finder, int64_t index, size_t begin, bool has_prompt,
                          size_t *out)
{
    bool has_turn = false;
    YK_TRY(render(finder, index + 1, false, &finder->turn, &has_turn));
    if (!has_turn) {
        return fail_unfound(index);
    }
    const struct slice turn = slice_of(&finder->turn.text);
    if (begins_with(finder->whole, turn)) {
        *out = turn.length;
        return YK_OK;
    }
    const size_t answer =
        has_prompt ? common_length(slice_of(&finder->prompt.text), turn) : finder->base.length;
    return find_end_in_whole(finder, index, begin, answer < turn.length ? answer : turn.length,
                             out);
}

static yk_status find_answer(struct finder *finder, int64_t index, struct yk_chat_answers *out)
{
    size_t begin = 0;
    size_t end = 0;
    bool has_prompt = false;
    YK_TRY(find_begin(finder, index, &has_prompt, &begin));
    YK_TRY(find_end(finder, index, begin, has_prompt, &end));
    if (end < begin) {
        return fail_unfound(index);
    }
    finder->end = end;
    finder->base.length = 0;
    yk_text_add_bytes(&finder->base, yk_text_chars(&finder->turn.text), finder->turn.text.length);
    YK_TRY(yk_text_status(&finder->base));
    return end > begin ? add(out, begin, end) : YK_OK;
}

static yk_status find_by_difference(struct finder *finder, struct yk_chat_answers *out)
{
    const struct yk_chat_mask_request *request = finder->request;
    const int64_t count = yk_chat_conversation_count(request->conversation);
    if (request->completion >= 0) {
        size_t begin = 0;
        bool has_prompt = false;
        YK_TRY(find_begin(finder, request->completion, &has_prompt, &begin));
        return begin < finder->whole.length ? add(out, begin, finder->whole.length) : YK_OK;
    }
    YK_TRY(check_length(request));
    for (int64_t i = 0; i < count; i++) {
        if (yk_chat_conversation_is_answer(request->conversation, i)) {
            YK_TRY(find_answer(finder, i, out));
        }
    }
    return YK_OK;
}

yk_status yk_chat_mask_find_answers(const struct yk_chat_mask_request *request,
                                    struct yk_chat_answers *out)
{
    const struct yk_jinja_output *whole = request->whole;
    struct finder finder = {.request = request, .whole = slice_of(&whole->text)};
    yk_status status = YK_OK;
    out->count = 0;
    out->by_blocks = request->completion < 0 &&
                     yk_chat_template_has_generation(request->chat, request->conversation);
    if (!out->by_blocks) {
        status = find_by_difference(&finder, out);
    }
    for (int64_t i = 0; out->by_blocks && i < whole->generation_count; i++) {
        YK_IF_OK(add(out, whole->generations[i].begin, whole->generations[i].end));
    }
    yk_jinja_output_free(&finder.prompt);
    yk_jinja_output_free(&finder.before);
    yk_jinja_output_free(&finder.turn);
    yk_text_free(&finder.base);
    return status;
}

/* ---- tokens ---- */

/* The first token from `from` on that contains the byte, or `count`. */
static int64_t find_token(const struct yk_token_span *spans, int64_t from, int64_t count,
                          size_t byte)
{
    while (from < count && !(spans[from].begin <= byte && byte < spans[from].end)) {
        from++;
    }
    return from;
}

/* As transformers does. */
static void mark_by_blocks(const struct yk_chat_answers *answers, const struct yk_text *text,
                           const struct yk_token_span *spans, int64_t count, bool *out)
{
    int64_t from = 0; /* no token before it contains the beginning of this part */
    for (int32_t i = 0; i < answers->count; i++) {
        const struct yk_jinja_span *part = &answers->items[i];
        from = i > 0 && part->begin < part[-1].begin ? 0 : from;
        const int64_t first = find_token(spans, from, count, part->begin);
        if (first == count) {
            return;
        }
        from = first;
        const bool is_empty = part->end <= part->begin;
        const int64_t last =
            part->end > 0
                ? find_token(spans, is_empty ? 0 : first, count,
                             yk_utf8_previous_character_start(yk_text_chars(text), part->end))
                : count;
        const int64_t end = last > 0 && last < count ? last + 1 : count;
        for (int64_t token = first; token < end; token++) {
            out[token] = true;
        }
    }
}

static void mark_shared_bytes(const struct yk_chat_answers *answers,
                              const struct yk_token_span *spans, int64_t count, bool *out)
{
    int32_t part = 0;
    for (int64_t token = 0; token < count; token++) {
        while (part < answers->count && answers->items[part].end <= spans[token].begin) {
            part++;
        }
        out[token] = part < answers->count && spans[token].begin < spans[token].end &&
                     spans[token].end > answers->items[part].begin;
    }
}

void yk_chat_mask_mark_tokens(const struct yk_chat_answers *answers, const struct yk_text *text,
                              const struct yk_token_span *spans, int64_t count, bool *out)
{
    if (count > 0) {
        memset(out, 0, (size_t)count * sizeof *out);
    }
    if (answers->by_blocks) {
        mark_by_blocks(answers, text, spans, count, out);
    } else {
        mark_shared_bytes(answers, spans, count, out);
    }
}
