#include "cli/options.h"

#include "base/number.h"
#include "cli/command.h"
#include "cli/suggest.h"

#include <inttypes.h>
#include <string.h>

struct parser {
    const struct yk_command *command;
    char *const *words;
    int count;
    int next;
    size_t operands_seen;
    struct yk_arena *arena;
    char *arguments;
};

static const struct yk_option help_option = {
    .name = "help",
    .help = "Show this help",
    .kind = YK_OPTION_FLAG,
};

const struct yk_option *yk_options_at(const struct yk_command *command, size_t number)
{
    if (number < command->option_count) {
        return &command->options[number];
    }
    return number == command->option_count ? &help_option : NULL;
}

static const struct yk_option *find_option(const struct yk_command *command, const char *name,
                                           size_t length)
{
    const struct yk_option *option = NULL;
    for (size_t i = 0; (option = yk_options_at(command, i)); i++) {
        if (strlen(option->name) == length && memcmp(option->name, name, length) == 0) {
            return option;
        }
    }
    return NULL;
}

static yk_status fail_unknown_option(const struct yk_command *command, const char *word)
{
    const size_t dashes = strspn(word, "-");
    const size_t length = strcspn(word, "=");
    struct yk_text place = {0};
    yk_command_add_words(command, &place);
    struct yk_text name = {0};
    yk_text_add_bytes(&name, word, length);
    const char *meant =
        length > dashes ? yk_suggest_option(yk_text_chars(&name) + dashes, command) : NULL;
    const yk_status status =
        meant ? yk_fail(YK_ERROR_USAGE, "%s has no option %s; did you mean --%s?",
                        yk_text_chars(&place), yk_text_chars(&name), meant)
              : yk_fail(YK_ERROR_USAGE, "%s has no option %s; see %s --help", yk_text_chars(&place),
                        yk_text_chars(&name), yk_text_chars(&place));
    yk_text_free(&name);
    yk_text_free(&place);
    return status;
}

static yk_status fail_choice(const char *label, const char *word, yk_choices choices)
{
    struct yk_text names = {0};
    struct yk_choice choice = {0};
    for (size_t i = 0; choices(i, &choice); i++) {
        yk_text_addf(&names, "%s%s", i > 0 ? ", " : "", choice.name);
    }
    const char *meant = yk_suggest_choice(word, choices);
    const yk_status status =
        meant ? yk_fail(YK_ERROR_USAGE, "%s: \"%s\" is none of %s; did you mean %s?", label, word,
                        yk_text_chars(&names), meant)
              : yk_fail(YK_ERROR_USAGE, "%s: \"%s\" is none of %s", label, word,
                        yk_text_chars(&names));
    yk_text_free(&names);
    return status;
}

static yk_status check_choice(const char *label, const char *word, yk_choices choices)
{
    struct yk_choice choice = {0};
    for (size_t i = 0; choices(i, &choice); i++) {
        if (strcmp(choice.name, word) == 0) {
            return YK_OK;
        }
    }
    return fail_choice(label, word, choices);
}

static yk_status read_integer(const struct yk_option *option, const char *word, int64_t *out)
{
    if (!yk_number_read_integer(word, strlen(word), out)) {
        return yk_fail(YK_ERROR_USAGE,
                       "--%s: \"%s\" is not a whole number from %" PRId64 " to %" PRId64,
                       option->name, word, option->least, option->most);
    }
    if (*out < option->least) {
        return yk_fail(YK_ERROR_USAGE, "--%s must be at least %" PRId64 ", not %s", option->name,
                       option->least, word);
    }
    if (*out > option->most) {
        return yk_fail(YK_ERROR_USAGE, "--%s must be at most %" PRId64 ", not %s", option->name,
                       option->most, word);
    }
    return YK_OK;
}

static yk_status read_amount(const struct yk_option *option, const char *word, double *out)
{
    const bool seconds = option->kind == YK_OPTION_SECONDS;
    const bool bare = seconds && yk_number_read(word, strlen(word), out);
    if (!bare && yk_units_read(word, seconds ? YK_UNIT_SECONDS : option->unit, out) != YK_OK) {
        return seconds ? yk_fail(YK_ERROR_USAGE,
                                 "--%s: \"%s\" is not a time; write seconds such as 2, or 500ms, "
                                 "2min",
                                 option->name, word)
                       : yk_fail(YK_ERROR_USAGE, "--%s: %s", option->name, yk_status_message());
    }
    if (*out < 0 || (*out == 0 && !option->zero)) {
        return yk_fail(YK_ERROR_USAGE, "--%s must be %s, not %s", option->name,
                       option->zero ? "0 or more" : "more than 0", word);
    }
    return YK_OK;
}

static yk_status read_factor(const struct yk_option *option, const char *word, double *out)
{
    if (!yk_number_read(word, strlen(word), out) || !(*out >= 1)) {
        return yk_fail(YK_ERROR_USAGE, "--%s must be a number of 1 or more, not \"%s\"",
                       option->name, word);
    }
    return YK_OK;
}

static yk_status read_list(const struct yk_option *option, const char *word, struct yk_arena *arena,
                           struct yk_option_list *out)
{
    struct yk_option_list list = {NULL, 1};
    for (const char *c = word; *c; c++) {
        list.count += *c == ',';
    }
    YK_TRY_NEW(arena, list.values, list.count);
    const char *part = word;
    for (int32_t i = 0; i < list.count; i++) {
        const size_t length = strcspn(part, ",");
        if (!yk_number_read(part, length, &list.values[i]) || list.values[i] <= 0) {
            return yk_fail(YK_ERROR_USAGE, "--%s: \"%.*s\" is not a positive number", option->name,
                           (int)length, part);
        }
        part += length + 1;
    }
    *out = list;
    return YK_OK;
}

static yk_status read_text(const struct yk_option *option, const char *word, const char **out)
{
    if (!*word) {
        return yk_fail(YK_ERROR_USAGE, "--%s needs a value that is not empty", option->name);
    }
    if (option->kind == YK_OPTION_FILE && strcmp(word, "-") == 0) {
        return yk_fail(YK_ERROR_USAGE, "--%s needs the name of a file to write, not -",
                       option->name);
    }
    *out = word;
    return YK_OK;
}

static yk_status store(struct parser *parser, const struct yk_option *option, const char *word)
{
    void *field = parser->arguments + option->offset;
    switch (option->kind) {
    case YK_OPTION_FLAG:
        *(bool *)field = true;
        return YK_OK;
    case YK_OPTION_TEXT:
    case YK_OPTION_FILE:
    case YK_OPTION_INPUT:
        return read_text(option, word, field);
    case YK_OPTION_CHOICE: {
        char label[64] = "--";
        strncat(label, option->name, sizeof label - 3);
        *(const char **)field = word;
        return check_choice(label, word, option->choices);
    }
    case YK_OPTION_INTEGER:
        return read_integer(option, word, field);
    case YK_OPTION_UNIT:
    case YK_OPTION_SECONDS:
        return read_amount(option, word, field);
    case YK_OPTION_FACTOR:
        return read_factor(option, word, field);
    case YK_OPTION_LIST:
        return read_list(option, word, parser->arena, field);
    }
    return yk_fail(YK_ERROR_USAGE, "--%s has no kind", option->name);
}

bool yk_option_is_file(const struct yk_option *option)
{
    return option->kind == YK_OPTION_FILE || option->kind == YK_OPTION_INPUT;
}

static yk_status store_presets(struct parser *parser)
{
    for (size_t i = 0; i < parser->command->option_count; i++) {
        const struct yk_option *option = &parser->command->options[i];
        if (option->preset) {
            YK_TRY(store(parser, option, option->preset));
        }
    }
    return YK_OK;
}

/* The option of a word such as -o; NULL when the command has none. */
static const struct yk_option *find_letter(const struct yk_command *command, const char *word)
{
    for (size_t i = 0; i < command->option_count; i++) {
        if (command->options[i].letter && command->options[i].letter == word[1] && !word[2]) {
            return &command->options[i];
        }
    }
    return NULL;
}

/* A word after --name that begins with two dashes is an option, never a value: a
 * forgotten value is more likely than a value of that form, which --name=value still allows. */
static yk_status read_option(struct parser *parser, const char *word)
{
    const size_t length = strcspn(word, "=");
    const struct yk_option *option = strncmp(word, "--", 2) == 0
                                         ? find_option(parser->command, word + 2, length - 2)
                                         : find_letter(parser->command, word);
    if (!option) {
        return fail_unknown_option(parser->command, word);
    }
    const char *value = word[length] == '=' ? word + length + 1 : NULL;
    if (option->kind == YK_OPTION_FLAG) {
        return value ? yk_fail(YK_ERROR_USAGE, "--%s takes no value", option->name)
                     : store(parser, option, NULL);
    }
    if (!value && parser->next < parser->count &&
        strncmp(parser->words[parser->next], "--", 2) != 0) {
        value = parser->words[parser->next++];
    }
    if (!value) {
        return yk_fail(YK_ERROR_USAGE, "--%s needs a value: --%s %s", option->name, option->name,
                       option->placeholder);
    }
    return store(parser, option, value);
}

static yk_status read_operand(struct parser *parser, const char *word)
{
    const struct yk_command *command = parser->command;
    if (parser->operands_seen == command->operand_count) {
        return yk_fail(YK_ERROR_USAGE,
                       "\"%s\" is one argument too many; put quotes around a value with spaces, or "
                       "see yoke%s%s "
                       "--help",
                       word, command->name ? " " : "", command->name ? command->name : "");
    }
    const struct yk_operand *operand = &command->operands[parser->operands_seen++];
    if (!*word) {
        return yk_fail(YK_ERROR_USAGE, "%s must not be empty", operand->placeholder);
    }
    *(const char **)(void *)(parser->arguments + operand->offset) = word;
    return operand->choices ? check_choice(operand->placeholder, word, operand->choices) : YK_OK;
}

static yk_status read_words(struct parser *parser)
{
    bool options_ended = false;
    while (parser->next < parser->count) {
        const char *word = parser->words[parser->next++];
        if (!options_ended && strcmp(word, "--") == 0) {
            options_ended = true;
        } else if (!options_ended && word[0] == '-' && word[1]) {
            YK_TRY(read_option(parser, word));
        } else {
            YK_TRY(read_operand(parser, word));
        }
    }
    return YK_OK;
}

static bool asks_for_help(char *const *words, int count)
{
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++) {
        if (strcmp(words[i], "--help") == 0) {
            return true;
        }
    }
    return false;
}

yk_status yk_options_parse(const struct yk_command *command, char *const *words, int count,
                           struct yk_arena *arena, void *arguments, bool *help)
{
    *help = asks_for_help(words, count);
    if (*help) {
        return YK_OK;
    }
    struct parser parser = {
        .command = command,
        .words = words,
        .count = count,
        .arena = arena,
        .arguments = arguments,
    };
    YK_TRY(store_presets(&parser));
    YK_TRY(read_words(&parser));
    for (size_t i = parser.operands_seen; i < command->operand_count; i++) {
        const struct yk_operand *operand = &command->operands[i];
        if (operand->required) {
            return yk_fail(YK_ERROR_USAGE, "yoke %s needs a %s; see yoke %s --help", command->name,
                           operand->placeholder, command->name);
        }
    }
    return YK_OK;
}
