/*
 * One line of text, docs/clusters.md:
 *
 *   cluster = group {"+" group} ["@" link]
 *   group   = [COUNT "x"] (device | "(" cluster ")")
 *   device  = (NAME | "cpu" ":" CORES) [":" PART "%"] [":" MEMORY]
 *   link    = NAME  |  BANDWIDTH ["," LATENCY]
 *
 * Spaces may stand anywhere between words. Each function below reads one of these rules.
 */
#include "base/arena.h"
#include "base/array.h"
#include "base/number.h"
#include "base/text.h"
#include "base/units.h"
#include "cluster/cluster.h"
#include "cluster/cluster_builder.h"
#include "cluster/datasheet.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_DEPTH = 16,
    MAX_CORES = 4096,
    MAX_OFFERED = 3,
    SHOWN_COLUMNS = 40,
};

/* A line that knows where it is when something is wrong. Words end at one of the signs +@():, and
 * at the end; spaces around them do not count. */
struct line {
    const char *text;
    size_t at; /* what is read next */
    struct yk_arena *arena;
};

struct word {
    size_t at;
    const char *text; /* in the arena; may be empty */
};

/* The next character that is no space; 0 at the end. */
static char peek(struct line *line)
{
    while (isspace((unsigned char)line->text[line->at])) {
        line->at++;
    }
    return line->text[line->at];
}

static bool accept(struct line *line, char sign)
{
    const bool there = peek(line) == sign;
    line->at += there;
    return there;
}

static yk_status read_word(struct line *line, struct word *out)
{
    (void)peek(line);
    out->at = line->at;
    size_t length = strcspn(line->text + out->at, "+@():,");
    line->at += length;
    while (length > 0 && isspace((unsigned char)line->text[out->at + length - 1])) {
        length--;
    }
    out->text = yk_arena_copy_text(line->arena, line->text + out->at, length);
    return out->text ? YK_OK : yk_fail_out_of_memory();
}

/* Puts the column of `at`, in characters from 1, before the sentence of a failure. */
static yk_status add_column(const struct line *line, size_t at, yk_status status)
{
    size_t column = 1;
    for (size_t i = 0; i < at; i++) {
        column += ((unsigned char)line->text[i] & 0xc0) != 0x80;
    }
    char place[40];
    snprintf(place, sizeof place, "column %zu", column);
    return yk_status_prefix_message(status, place);
}

#define FAIL_AT(line, at, ...) add_column(line, at, yk_fail(YK_ERROR_INPUT, __VA_ARGS__))

static yk_status fail_expected(struct line *line, const char *expected)
{
    if (!peek(line)) {
        return FAIL_AT(line, line->at, "the line ends where %s should stand", expected);
    }
    const char *rest = line->text + line->at;
    const int shown = (int)yk_text_fitting_prefix_length(rest, 1);
    return FAIL_AT(line, line->at, "\"%.*s\" stands where %s should", shown > 0 ? shown : 1, rest,
                   expected);
}

/* A `cluster` of the grammar: its devices are those from `first` on until it ends. */
struct level {
    int32_t first;
    int32_t end;
    int32_t node; /* of the devices that stand in it directly; -1 until there is one */
    bool has_link;
    struct yk_link link;
};

struct parser {
    struct line line;
    int depth;
    struct yk_cluster_builder builder;
    struct level *levels; /* those that ended, inner ones before outer ones */
    int32_t level_count;
    int32_t level_capacity;
};

static yk_status fail_unknown_device(const struct parser *parser, const struct word *word)
{
    const char *names[MAX_OFFERED];
    const size_t count = yk_datasheet_nearest_names(word->text, names, MAX_OFFERED);
    struct yk_text offer = {0};
    for (size_t i = 0; i < count; i++) {
        yk_text_addf(&offer, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", names[i]);
    }
    const int shown = (int)yk_text_fitting_prefix_length(word->text, SHOWN_COLUMNS);
    const yk_status status =
        count > 0 ? yk_fail(YK_ERROR_INPUT, "unknown device \"%.*s\"; did you mean %s?", shown,
                            word->text, yk_text_chars(&offer))
                  : yk_fail(YK_ERROR_INPUT,
                            "unknown device \"%.*s\"; yoke devices --list names those known", shown,
                            word->text);
    yk_text_free(&offer);
    return add_column(&parser->line, word->at, status);
}

/* NAME "x" COUNT, as people write it who are used to it, is answered by what to write instead. */
static yk_status check_order(const struct parser *parser)
{
    struct line line = parser->line;
    struct word word = {0};
    int64_t count = 0;
    YK_TRY(read_word(&line, &word));
    const char *times = strrchr(word.text, 'x');
    times = times ? times : strrchr(word.text, 'X');
    if (!times || yk_datasheet_find(word.text)) {
        return YK_OK;
    }
    const char *digits = times + 1 + strspn(times + 1, " ");
    const char *name = yk_arena_copy_text(line.arena, word.text, (size_t)(times - word.text));
    YK_TRY_ALLOCATED(name);
    const struct yk_datasheet *sheet = yk_datasheet_find(name);
    if (!sheet || !yk_number_parse_integer(digits, strlen(digits), &count) || count < 1 ||
        count > YK_CLUSTER_MAX_DEVICES) {
        return YK_OK;
    }
    return FAIL_AT(&line, word.at, "the count comes first: write \"%dx%s\"", (int)count,
                   sheet->name);
}

/* [COUNT "x"]: digits count only before an x, since "3090" is a name. */
static yk_status parse_count(struct parser *parser, int32_t *out)
{
    *out = 1;
    (void)peek(&parser->line);
    const size_t start = parser->line.at;
    const size_t digits = strspn(parser->line.text + start, "0123456789");
    parser->line.at += digits;
    const char sign = peek(&parser->line);
    if (digits == 0 || (sign != 'x' && sign != 'X')) {
        parser->line.at = start;
        return YK_OK;
    }
    parser->line.at++;
    int64_t count = 0;
    if (!yk_number_parse_integer(parser->line.text + start, digits, &count) ||
        count > YK_CLUSTER_MAX_DEVICES) {
        return FAIL_AT(&parser->line, start, "%.*s is too many; a cluster has at most %d devices",
                       digits > SHOWN_COLUMNS ? SHOWN_COLUMNS : (int)digits,
                       parser->line.text + start, YK_CLUSTER_MAX_DEVICES);
    }
    if (count < 1) {
        return FAIL_AT(&parser->line, start, "a count of 0; leave it out or write at least 1x");
    }
    *out = (int32_t)count;
    return YK_OK;
}

/* An amount above 0. */
static yk_status parse_amount(const struct parser *parser, const struct word *word,
                              enum yk_unit unit, double *out)
{
    double value = 0;
    yk_status status = yk_units_parse(word->text, unit, &value);
    if (status == YK_OK && !(value > 0)) {
        status = yk_fail(YK_ERROR_INPUT, "\"%s\" must be more than 0", word->text);
    }
    YK_TRY(add_column(&parser->line, word->at, status));
    *out = value;
    return YK_OK;
}

static yk_status parse_part(const struct parser *parser, const struct word *word, double *out)
{
    double percent = 0;
    if (!yk_number_parse(word->text, strlen(word->text) - 1, &percent) || !(percent / 100 > 0) ||
        percent > 100) {
        return FAIL_AT(&parser->line, word->at,
                       "\"%s\" is no part of a device; write more than 0%% and at most "
                       "100%%",
                       word->text);
    }
    *out = percent / 100;
    return YK_OK;
}

static bool is_percentage(const char *text)
{
    const size_t length = strlen(text);
    return length > 0 && text[length - 1] == '%';
}

/* The first field of a CPU. */
static yk_status parse_cores(struct parser *parser, int32_t *out)
{
    struct word word = {0};
    int64_t cores = 0;
    if (!accept(&parser->line, ':')) {
        return FAIL_AT(&parser->line, parser->line.at, "say how many cores: cpu:8");
    }
    YK_TRY(read_word(&parser->line, &word));
    if (!yk_number_parse_integer(word.text, strlen(word.text), &cores) || cores < 1 ||
        cores > MAX_CORES) {
        return FAIL_AT(&parser->line, word.at,
                       "\"%s\" is no number of cores; write cpu:1 to cpu:%d", word.text, MAX_CORES);
    }
    *out = (int32_t)cores;
    return YK_OK;
}

/* A device without its name and place, which its group gives it. */
static yk_status parse_device(struct parser *parser, struct yk_device *out)
{
    struct word word = {0};
    YK_TRY(read_word(&parser->line, &word));
    if (!*word.text) {
        return fail_expected(&parser->line, "a device");
    }
    const struct yk_datasheet *sheet = yk_datasheet_find(word.text);
    if (!sheet) {
        return fail_unknown_device(parser, &word);
    }
    double part = 1;
    double memory_bytes = 0;
    int32_t cores = 0;
    if (sheet->generation == YK_DEVICE_GENERATION_CPU) {
        YK_TRY(parse_cores(parser, &cores));
    }
    bool more = accept(&parser->line, ':');
    if (more) {
        YK_TRY(read_word(&parser->line, &word));
        if (is_percentage(word.text)) {
            YK_TRY(parse_part(parser, &word, &part));
            more = accept(&parser->line, ':');
        } else {
            more = false;
            YK_TRY(parse_amount(parser, &word, YK_UNIT_BYTES, &memory_bytes));
        }
    }
    if (more) {
        YK_TRY(read_word(&parser->line, &word));
        YK_TRY(parse_amount(parser, &word, YK_UNIT_BYTES, &memory_bytes));
    }
    yk_cluster_builder_device_from_datasheet(sheet, part, cores, out);
    out->memory_bytes = memory_bytes > 0 ? memory_bytes : out->memory_bytes;
    return YK_OK;
}

static yk_status parse_cluster(struct parser *parser);

/* A cluster ended too early: a group continues with more, but a link comes last. */
static yk_status fail_unfinished(struct parser *parser, const char *closer)
{
    char expected[80];
    const bool linked = parser->levels[parser->level_count - 1].has_link;
    snprintf(expected, sizeof expected, "%s%s", linked ? "" : "\"+\", \"@\" or ", closer);
    return fail_expected(&parser->line, expected);
}

/* "(" cluster ")", as often as it is counted: every time anew, since each is a node of its own. */
static yk_status parse_nested(struct parser *parser, int32_t count)
{
    const size_t start = parser->line.at;
    if (parser->depth == MAX_DEPTH) {
        return FAIL_AT(&parser->line, start - 1, "more than %d parentheses inside each other",
                       MAX_DEPTH);
    }
    parser->depth++;
    for (int32_t i = 0; i < count; i++) {
        parser->line.at = start;
        YK_TRY(parse_cluster(parser));
        if (!accept(&parser->line, ')')) {
            return fail_unfinished(parser, "\")\"");
        }
    }
    parser->depth--;
    return YK_OK;
}

static yk_status parse_group(struct parser *parser, struct level *level)
{
    int32_t count = 1;
    struct yk_device device = {0};
    YK_TRY(check_order(parser));
    YK_TRY(parse_count(parser, &count));
    if (accept(&parser->line, '(')) {
        return parse_nested(parser, count);
    }
    const size_t start = parser->line.at;
    YK_TRY(parse_device(parser, &device));
    level->node = level->node < 0 ? parser->builder.node_count : level->node;
    device.node = level->node;
    for (int32_t i = 0; i < count; i++) {
        YK_TRY(add_column(&parser->line, start,
                          yk_cluster_builder_add_device(&parser->builder, &device)));
    }
    return YK_OK;
}

static yk_status fail_unknown_link(const struct parser *parser, const struct word *word)
{
    const char *nearest = yk_interconnect_nearest_name(word->text);
    const int shown = (int)yk_text_fitting_prefix_length(word->text, SHOWN_COLUMNS);
    const yk_status status =
        nearest ? yk_fail(YK_ERROR_INPUT, "unknown link \"%.*s\"; did you mean %s?", shown,
                          word->text, nearest)
                : yk_fail(YK_ERROR_INPUT, "unknown link \"%.*s\"; write a bandwidth like 32GB/s",
                          shown, word->text);
    return add_column(&parser->line, word->at, status);
}

static yk_status parse_link(struct parser *parser, struct yk_link *out)
{
    struct word word = {0};
    YK_TRY(read_word(&parser->line, &word));
    if (!*word.text) {
        return fail_expected(&parser->line, "a link");
    }
    const struct yk_interconnect *known = yk_interconnect_find(word.text);
    if (known) {
        *out = (struct yk_link){known->latency_s, known->bytes_per_s};
    } else if (isalpha((unsigned char)*word.text)) {
        return fail_unknown_link(parser, &word);
    } else {
        YK_TRY(parse_amount(parser, &word, YK_UNIT_BYTES_PER_S, &out->bytes_per_s));
        out->latency_s = YK_INTERCONNECT_DEFAULT_LATENCY_S;
    }
    if (accept(&parser->line, ',')) {
        YK_TRY(read_word(&parser->line, &word));
        YK_TRY(add_column(&parser->line, word.at,
                          yk_units_parse(word.text, YK_UNIT_SECONDS, &out->latency_s)));
    }
    return YK_OK;
}

static yk_status parse_cluster(struct parser *parser)
{
    struct level level = {.first = parser->builder.device_count, .node = -1};
    do {
        YK_TRY(parse_group(parser, &level));
    } while (accept(&parser->line, '+'));
    if (accept(&parser->line, '@')) {
        level.has_link = true;
        YK_TRY(parse_link(parser, &level.link));
    }
    level.end = parser->builder.device_count;
    YK_TRY_GROW_ARRAY(parser->levels, parser->level_capacity, parser->level_count);
    parser->levels[parser->level_count++] = level;
    return YK_OK;
}

/* A link holds for the pairs that no inner level holds both ends of. */
static yk_status link_devices(struct parser *parser)
{
    struct yk_cluster_builder *builder = &parser->builder;
    /* Told apart from pairs not met yet, and still without bandwidth for whoever finishes. */
    const struct yk_link unsaid = {.bytes_per_s = -1};
    YK_TRY(yk_cluster_builder_begin_links(builder));
    for (int32_t i = 0; i < parser->level_count; i++) {
        const struct level *level = &parser->levels[i];
        for (int32_t a = level->first; a < level->end; a++) {
            for (int32_t b = a + 1; b < level->end; b++) {
                if (builder->links[(int64_t)a * builder->device_count + b].bytes_per_s == 0) {
                    yk_cluster_builder_set_link(builder, a, b,
                                                level->has_link ? level->link : unsaid);
                }
            }
        }
    }
    return YK_OK;
}

yk_status yk_cluster_parse_line(const char *line, struct yk_cluster **out)
{
    struct parser parser = {0};
    YK_TRY(yk_cluster_builder_begin(&parser.builder));
    parser.line = (struct line){.text = line, .arena = parser.builder.arena};
    yk_status status = parse_cluster(&parser);
    if (status == YK_OK && peek(&parser.line)) {
        status = fail_unfinished(&parser, "the end of the line");
    }
    YK_IF_OK(link_devices(&parser));
    YK_IF_OK(yk_cluster_builder_finish(&parser.builder, line, 0, out));
    free(parser.levels);
    yk_cluster_builder_free(&parser.builder);
    return status;
}
