#include "cli/options/options.h"

#include "base/option.h"
#include "cli/options/command.h"

#include <string.h>

enum {
    MAX_NAMES = 128
};

struct parser {
    const struct yk_command *command;
    char *const *words;
    int count;
    int next;
    size_t operands_read;
    struct yk_arena *arena;
    char *arguments;
    bool over_sources; /* the words are read once more, and beat what sources say */
};

static const struct yk_option help_option = {
    .name = "help",
    .help = "Show this help",
    .kind = YK_OPTION_FLAG,
};

const struct yk_option *yk_options_get_nth_of_command(const struct yk_command *command,
                                                      size_t number)
{
    if (number < command->options->count) {
        return &command->options->rows[number];
    }
    return number == command->options->count ? &help_option : NULL;
}

void yk_options_write_name_and_placeholder(const struct yk_option *option, struct yk_text *out)
{
    if (option->letter) {
        yk_text_addf(out, "-%c, ", option->letter);
    }
    yk_text_addf(out, "--%s", option->name);
    if (option->placeholder) {
        yk_text_addf(out, " %s", option->placeholder);
    }
}

void yk_options_write_help_and_default(const struct yk_option *option, struct yk_text *out)
{
    yk_text_add(out, option->help);
    if (option->default_value) {
        yk_text_addf(out, " (default: %s)", option->default_value);
    }
}

void yk_options_write_choice_names(yk_option_choice_getter choices, struct yk_text *out)
{
    struct yk_option_choice choice = {0};
    for (size_t i = 0; choices(i, &choice); i++) {
        yk_text_addf(out, "%s%s", i > 0 ? " " : "", choice.name);
    }
}

static const struct yk_option *find_option(const struct yk_command *command, const char *name,
                                           size_t length)
{
    const struct yk_option *option = NULL;
    for (size_t i = 0; (option = yk_options_get_nth_of_command(command, i)); i++) {
        if (strlen(option->name) == length && memcmp(option->name, name, length) == 0) {
            return option;
        }
    }
    return NULL;
}

static const char *suggest(const char *word, const struct yk_command *command)
{
    const char *names[MAX_NAMES];
    const struct yk_option *option = NULL;
    size_t count = 0;
    while (count < MAX_NAMES && (option = yk_options_get_nth_of_command(command, count))) {
        names[count++] = option->name;
    }
    return yk_option_suggest_from_names(word, names, count);
}

static yk_status fail_unknown_option(const struct yk_command *command, const char *word)
{
    const size_t dashes = strspn(word, "-");
    const size_t length = strcspn(word, "=");
    struct yk_text place = {0};
    yk_command_write_name(command, &place);
    struct yk_text name = {0};
    yk_text_add_bytes(&name, word, length);
    const char *meant = length > dashes ? suggest(yk_text_chars(&name) + dashes, command) : NULL;
    const yk_status status = yk_fail(
        YK_ERROR_USAGE,
        meant ? "%s has no option %s; did you mean --%s?" : "%s has no option %s; see %s --help",
        yk_text_chars(&place), yk_text_chars(&name), meant ? meant : yk_text_chars(&place));
    yk_text_free(&name);
    yk_text_free(&place);
    return status;
}

bool yk_option_value_is_file(const struct yk_option *option)
{
    return option->kind == YK_OPTION_OUTPUT_FILE || option->kind == YK_OPTION_INPUT_FILE;
}

static yk_status store(struct parser *parser, const struct yk_option *option, const char *word)
{
    return parser->over_sources
               ? yk_option_override_value(parser->command->options, option, word, parser->arena,
                                          parser->arguments)
               : yk_option_parse_and_store(option, word, parser->arena, parser->arguments);
}

/* The option of a word such as -o; NULL when the command has none. */
static const struct yk_option *find_letter(const struct yk_command *command, const char *word)
{
    for (size_t i = 0; i < command->options->count; i++) {
        const struct yk_option *option = &command->options->rows[i];
        if (option->letter && option->letter == word[1] && !word[2]) {
            return option;
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

static yk_status add_operand(struct parser *parser, const struct yk_operand *operand,
                             const char *word)
{
    void *field = parser->arguments + operand->offset;
    if (!operand->many) {
        *(const char **)field = word;
        return YK_OK;
    }
    struct yk_option_string_list *words = field;
    if (!words->items) {
        YK_TRY_NEW(parser->arena, words->items, parser->count);
    }
    words->items[words->count++] = word;
    return YK_OK;
}

/* The operand that the next word is; NULL where there is none. */
static const struct yk_operand *next_operand(struct parser *parser)
{
    const struct yk_command *command = parser->command;
    const size_t count = command->operand_count;
    if (parser->operands_read < count) {
        const struct yk_operand *operand = &command->operands[parser->operands_read++];
        if (operand->many) {
            /* The words may be read twice. */
            ((struct yk_option_string_list *)(void *)(parser->arguments + operand->offset))->count =
                0;
        }
        return operand;
    }
    return count > 0 && command->operands[count - 1].many ? &command->operands[count - 1] : NULL;
}

static yk_status read_operand(struct parser *parser, const char *word)
{
    const struct yk_command *command = parser->command;
    const struct yk_operand *operand = next_operand(parser);
    if (!operand) {
        return yk_fail(YK_ERROR_USAGE,
                       "\"%s\" is one argument too many; put quotes around a value with spaces, or "
                       "see yoke%s%s "
                       "--help",
                       word, command->name ? " " : "", command->name ? command->name : "");
    }
    if (!*word) {
        return yk_fail(YK_ERROR_USAGE, "%s must not be empty", operand->placeholder);
    }
    YK_TRY(add_operand(parser, operand, word));
    return operand->choices ? yk_option_check_choice(operand->placeholder, word, operand->choices)
                            : YK_OK;
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

static yk_status check_operands(const struct parser *parser)
{
    const struct yk_command *command = parser->command;
    for (size_t i = parser->operands_read; i < command->operand_count; i++) {
        const struct yk_operand *operand = &command->operands[i];
        if (operand->required) {
            return yk_fail(YK_ERROR_USAGE, "yoke %s needs a %s; see yoke %s --help", command->name,
                           operand->placeholder, command->name);
        }
    }
    return YK_OK;
}

/* The words say which sources there are; those go under the words, so all is read once more. */
static yk_status read_sources(struct parser *parser)
{
    const struct yk_command *command = parser->command;
    struct yk_option_files sources = {0};
    YK_TRY(command->sources(parser->arguments, parser->arena, &sources));
    if (sources.count == 0) {
        return YK_OK;
    }
    YK_TRY(yk_option_apply_defaults_and_files(command->options, &sources, parser->arena,
                                              parser->arguments));
    parser->next = 0;
    parser->operands_read = 0;
    parser->over_sources = true;
    return read_words(parser);
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
    YK_TRY(yk_option_store_defaults(command->options, arena, arguments));
    YK_TRY(read_words(&parser));
    YK_TRY(check_operands(&parser));
    return command->sources ? read_sources(&parser) : YK_OK;
}
