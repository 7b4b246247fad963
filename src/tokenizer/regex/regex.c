#include "tokenizer/regex/regex.h"

#include "base/utf8.h"
#include "tokenizer/regex/regex_syntax.h"
#include "tokenizer/regex/word_pattern.h"
#include "tokenizer/unicode.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    /* The most backtracking steps of a match at one position, and the first limit that is tried.
     * The patterns of GPT-2 and Llama 3 take at most a few steps per character. */
    MAX_STEPS = 10 * 1000 * 1000,
    FIRST_STEPS = 256,
    WINDOW_BYTES = 32, /* a match is searched for in windows of this size */
    TIMED_EVERY = 16,  /* only every 16th search is timed, because reading the clock takes time */
    FIRST_STACK_BYTES = 32 * 1024,
    MAX_STACK_BYTES = 4 * 1024 * 1024,
    MAX_PATTERN_BYTES = 64 * 1024, /* compilation time grows faster than the pattern */
    SHOWN_BYTES = 100              /* of a pattern in messages */
};

/* The limit of processor time for matching: twenty times what common patterns need. */
#define SECONDS_AT_FIRST 1.0
#define SECONDS_PER_BYTE 1e-6

struct yk_regex {
    pcre2_code *code;
    pcre2_code *anchored;                /* for matches that begin exactly at the given position */
    bool compiled;                       /* both are compiled to machine code (JIT) */
    bool is_spaces;                      /* "\\s+", for which PCRE2 is not needed */
    const struct yk_word_pattern *words; /* or NULL; matches ASCII text without PCRE2 */
    char *literal;                       /* NULL means: not a plain string, or an empty one */
    size_t literal_length;
};

struct yk_regex_workspace {
    double allowed_s; /* time limit for everything that PCRE2 searched so far */
    double spent_s;
    bool suspected; /* the limit was exceeded in wall clock time: processor time is measured now */
    uint32_t searches;
    uint32_t steps; /* current match limit */
    pcre2_match_data *match;
    pcre2_match_context *context;
    pcre2_match_context *anchored_context;
    pcre2_jit_stack *stack;
};

/* Whether PCRE2 knows a script with this name. */
static bool is_script(const char *name, size_t length)
{
    char pattern[YK_REGEX_SYNTAX_MAX_NAME_BYTES + sizeof "\\p{sc:}"];
    int code = 0;
    PCRE2_SIZE at = 0;
    (void)snprintf(pattern, sizeof pattern, "\\p{sc:%.*s}", (int)length, name);
    pcre2_code *compiled =
        pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF, &code, &at, NULL);
    const bool known = compiled != NULL;
    pcre2_code_free(compiled);
    return known;
}

static yk_status fail_by_code(int code, const char *pattern, size_t length)
{
    PCRE2_UCHAR text[128] = {0};
    if (code == PCRE2_ERROR_NOMEMORY) {
        return yk_fail_out_of_memory();
    }
    (void)pcre2_get_error_message(code, text, sizeof text);
    return yk_fail(YK_ERROR_INPUT, "the pattern \"%.*s\" cannot be used: %s",
                   length < SHOWN_BYTES ? (int)length : SHOWN_BYTES, pattern, (const char *)text);
}

static yk_status compile(const char *pattern, size_t length, uint32_t options, pcre2_code **out)
{
    int code = 0;
    PCRE2_SIZE at = 0;
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    YK_TRY_ALLOCATED(context);
    (void)pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    *out = pcre2_compile((PCRE2_SPTR)pattern, length, PCRE2_UTF | options, &code, &at, context);
    pcre2_compile_context_free(context);
    return *out ? YK_OK : fail_by_code(code, pattern, length);
}

static yk_status compile_both(const char *pattern, size_t length, bool literal,
                              struct yk_regex *out)
{
    /* \C would match a single byte of a character. */
    const uint32_t options =
        literal ? PCRE2_LITERAL : PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
    YK_TRY(compile(pattern, length, options | PCRE2_USE_OFFSET_LIMIT, &out->code));
    YK_TRY(compile(pattern, length, options | PCRE2_ANCHORED, &out->anchored));
    /* If the system does not allow JIT compilation, PCRE2 interprets the pattern. */
    out->compiled = pcre2_jit_compile(out->code, PCRE2_JIT_COMPLETE) == 0 &&
                    pcre2_jit_compile(out->anchored, PCRE2_JIT_COMPLETE) == 0;
    return YK_OK;
}

yk_status yk_regex_create(const char *pattern, size_t length, bool literal, struct yk_regex **out)
{
    static const char spaces[] = "\\s+";
    struct yk_text text = {0};
    if (length > MAX_PATTERN_BYTES) {
        return yk_fail(YK_ERROR_INPUT, "a pattern of %zu bytes, where at most %d are allowed",
                       length, MAX_PATTERN_BYTES);
    }
    struct yk_regex *made = calloc(1, sizeof *made);
    YK_TRY_ALLOCATED(made);
    if (literal && length > 0) {
        made->literal = malloc(length);
        YK_TRY_OR_CLEAN_UP(made->literal ? YK_OK : yk_fail_out_of_memory(), yk_regex_destroy(made));
        memcpy(made->literal, pattern, length);
        made->literal_length = length;
        *out = made;
        return YK_OK;
    }
    yk_status status = literal ? compile_both(pattern, length, true, made)
                               : yk_regex_syntax_translate(pattern, length, is_script, &text);
    if (!literal) {
        YK_IF_OK(compile_both(yk_text_chars(&text), text.length, false, made));
    }
    yk_text_free(&text);
    YK_TRY_OR_CLEAN_UP(status, yk_regex_destroy(made));
    made->words = literal ? NULL : yk_word_pattern_find(pattern, length);
    made->is_spaces = !literal && length == strlen(spaces) && memcmp(pattern, spaces, length) == 0;
    *out = made;
    return YK_OK;
}

void yk_regex_destroy(struct yk_regex *pattern)
{
    if (pattern) {
        pcre2_code_free(pattern->code);
        pcre2_code_free(pattern->anchored);
        free(pattern->literal);
        free(pattern);
    }
}

yk_status yk_regex_workspace_create(struct yk_regex_workspace **out)
{
    struct yk_regex_workspace *workspace = calloc(1, sizeof *workspace);
    YK_TRY_ALLOCATED(workspace);
    workspace->match = pcre2_match_data_create(1, NULL);
    workspace->context = pcre2_match_context_create(NULL);
    workspace->anchored_context = pcre2_match_context_create(NULL);
    workspace->stack = pcre2_jit_stack_create(FIRST_STACK_BYTES, MAX_STACK_BYTES, NULL);
    if (!workspace->match || !workspace->context || !workspace->anchored_context) {
        yk_regex_workspace_destroy(workspace);
        return yk_fail_out_of_memory();
    }
    workspace->allowed_s = SECONDS_AT_FIRST;
    (void)pcre2_set_heap_limit(workspace->context, MAX_STACK_BYTES / 1024);
    (void)pcre2_set_heap_limit(workspace->anchored_context, MAX_STACK_BYTES / 1024);
    (void)pcre2_set_match_limit(workspace->anchored_context, FIRST_STEPS);
    if (workspace->stack) {
        pcre2_jit_stack_assign(workspace->context, NULL, workspace->stack);
        pcre2_jit_stack_assign(workspace->anchored_context, NULL, workspace->stack);
    }
    *out = workspace;
    return YK_OK;
}

void yk_regex_workspace_destroy(struct yk_regex_workspace *workspace)
{
    if (workspace) {
        pcre2_match_data_free(workspace->match);
        pcre2_match_context_free(workspace->context);
        pcre2_match_context_free(workspace->anchored_context);
        pcre2_jit_stack_free(workspace->stack);
        free(workspace);
    }
}

/* A search. A match may begin in the `width` bytes from `at` on. */
struct search {
    const struct yk_regex *pattern;
    struct yk_regex_workspace *workspace;
    const char *text;
    size_t length;
    size_t from;
    size_t at;
    size_t width;
    bool timed; /* began_s is valid */
    double began_s;
};

/* Reading the processor time takes longer than matching a word. Therefore the wall clock is used
 * until it exceeds the limit; it also runs while other processes have the processor. */
static double now_s(const struct yk_regex_workspace *workspace)
{
    struct timespec now = {0};
    (void)clock_gettime(workspace->suspected ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC_COARSE,
                        &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Whether the search has exceeded the time limit for all texts so far and this one. */
static bool is_late(struct search *search)
{
    struct yk_regex_workspace *workspace = search->workspace;
    if (!search->timed) {
        search->timed = true;
        search->began_s = now_s(workspace);
        return false;
    }
    const double allowed_s =
        workspace->allowed_s + SECONDS_PER_BYTE * (double)(search->length - search->from);
    if (workspace->spent_s + now_s(workspace) - search->began_s <= allowed_s) {
        return false;
    }
    if (workspace->suspected) {
        return true;
    }
    workspace->suspected = true;
    workspace->spent_s = 0;
    search->began_s = now_s(workspace);
    return false;
}

static int run(const struct search *search, const pcre2_code *code, pcre2_match_context *context)
{
    struct yk_regex_workspace *workspace = search->workspace;
    if (search->pattern->compiled) {
        return pcre2_jit_match(code, (PCRE2_SPTR)search->text, search->length, search->at, 0,
                               workspace->match, context);
    }
    return pcre2_match(code, (PCRE2_SPTR)search->text, search->length, search->at,
                       PCRE2_NO_UTF_CHECK, workspace->match, context);
}

/* PCRE2's match limit applies to each start position, and one step may scan the whole text. */
static int match(const struct search *search, uint32_t steps)
{
    struct yk_regex_workspace *workspace = search->workspace;
    const size_t left = search->length - search->at;
    if (workspace->steps != steps) {
        (void)pcre2_set_match_limit(workspace->context, steps);
        workspace->steps = steps;
    }
    (void)pcre2_set_offset_limit(workspace->context,
                                 search->width < left ? search->at + search->width : PCRE2_UNSET);
    return run(search, search->pattern->code, workspace->context);
}

/* Finds a match that begins at `at`, with an increasing match limit. */
static int match_here(struct search *search)
{
    int code = PCRE2_ERROR_MATCHLIMIT;
    search->width = 0;
    for (uint32_t steps = FIRST_STEPS;
         code == PCRE2_ERROR_MATCHLIMIT && steps <= MAX_STEPS && !is_late(search); steps *= 2) {
        code = match(search, steps);
    }
    return code;
}

/* Advances to the next possible start position. */
static void advance(struct search *search)
{
    search->at += search->width;
    do {
        search->at++;
    } while (search->at < search->length &&
             ((unsigned char)search->text[search->at] & 0xc0) == 0x80);
}

/* Finds the leftmost match, window by window, so that no call takes long. Most matches begin where
 * the last one ended. */
static int match_all(struct search *search)
{
    const int first = run(search, search->pattern->anchored, search->workspace->anchored_context);
    if (first != PCRE2_ERROR_NOMATCH && first != PCRE2_ERROR_MATCHLIMIT) {
        return first;
    }
    for (;;) {
        search->width = WINDOW_BYTES;
        int code = match(search, FIRST_STEPS);
        if (code == PCRE2_ERROR_MATCHLIMIT) {
            code = match_here(search);
        }
        if (code != PCRE2_ERROR_NOMATCH || search->width >= search->length - search->at) {
            return code;
        }
        if (is_late(search)) {
            return PCRE2_ERROR_MATCHLIMIT;
        }
        advance(search);
    }
}

static yk_status fail_to_match(int code)
{
    PCRE2_UCHAR text[128] = {0};
    if (code == PCRE2_ERROR_MATCHLIMIT) {
        return yk_fail(YK_ERROR_INPUT,
                       "the tokenizer's pattern that cuts words takes too long on this text");
    }
    (void)pcre2_get_error_message(code, text, sizeof text);
    return yk_fail(YK_ERROR_INPUT, "the pattern that cuts words gave up: %s", (const char *)text);
}

const char *yk_regex_get_literal(const struct yk_regex *pattern, size_t *length)
{
    *length = pattern->literal_length;
    return pattern->literal;
}

/* Finds a plain string. */
static void find_literal(const struct yk_regex *pattern, const char *text, size_t length,
                         size_t from, bool *found, size_t *begin, size_t *end)
{
    const char *match =
        memmem(text + from, length - from, pattern->literal, pattern->literal_length);
    *found = match != NULL;
    if (match) {
        *begin = (size_t)(match - text);
        *end = *begin + pattern->literal_length;
    }
}

/* Whether a text begins with white space, and the length of its first character. */
static bool begins_with_space(const char *text, size_t length, size_t *used)
{
    uint32_t character = (unsigned char)text[0];
    *used = character < 0x80 ? 1 : yk_utf8_decode(text, length, &character);
    *used = *used ? *used : 1;
    return yk_unicode_is_space(character);
}

static void find_spaces(const char *text, size_t length, size_t from, bool *found, size_t *begin,
                        size_t *end)
{
    size_t used = 0;
    while (from < length && !begins_with_space(text + from, length - from, &used)) {
        from += used;
    }
    *begin = from;
    while (from < length && begins_with_space(text + from, length - from, &used)) {
        from += used;
    }
    *end = from;
    *found = *begin < *end;
}

yk_status yk_regex_find(const struct yk_regex *pattern, struct yk_regex_workspace *workspace,
                        const char *text, size_t length, size_t from, bool *found, size_t *begin,
                        size_t *end)
{
    if (pattern->literal) {
        find_literal(pattern, text, length, from, found, begin, end);
        return YK_OK;
    }
    if (pattern->is_spaces) {
        find_spaces(text, length, from, found, begin, end);
        return YK_OK;
    }
    const size_t word_end = pattern->words && from < length
                                ? yk_word_pattern_match(pattern->words, text, length, from)
                                : 0;
    if (word_end > 0) {
        *found = true;
        *begin = from;
        *end = word_end;
        return YK_OK;
    }
    struct search search = {
        .pattern = pattern,
        .workspace = workspace,
        .text = text,
        .length = length,
        .from = from,
        .at = from,
    };
    const bool sampled = workspace->searches++ % TIMED_EVERY == 0;
    if (sampled || workspace->suspected) {
        (void)is_late(&search); /* starts the timer */
    }
    int code = match_all(&search);
    if (search.timed) {
        code = is_late(&search) ? PCRE2_ERROR_MATCHLIMIT : code;
        workspace->spent_s += (now_s(workspace) - search.began_s) *
                              (sampled && !workspace->suspected ? TIMED_EVERY : 1);
    }
    if (code < 0 && code != PCRE2_ERROR_NOMATCH) {
        return fail_to_match(code);
    }
    size_t searched = length;
    *found = code >= 0;
    if (*found) {
        const PCRE2_SIZE *places = pcre2_get_ovector_pointer(workspace->match);
        *begin = places[0];
        *end = places[1];
        searched = *end;
    }
    workspace->allowed_s += SECONDS_PER_BYTE * (double)(searched - from);
    return YK_OK;
}
