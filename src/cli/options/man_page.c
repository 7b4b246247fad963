#include "cli/options/help_page.h"

#include "cli/options/command.h"

#include <ctype.h>
#include <string.h>

enum {
    FOLD_AFTER = 60
};

/* Adds `words` so that roff prints them as they are. A dash that begins a word or follows another
 * dash is a minus, which can be searched for and copied; any other is a hyphen unless `literal`.
 * Lines of prose are folded: roff fills them again. */
static void add_roff(struct yk_text *out, const char *words, bool literal)
{
    size_t column = 0;
    char before = '\n';
    for (const char *c = words; *c; c++, column++) {
        char now = *c;
        if (now == '\\') {
            yk_text_add(out, "\\e");
        } else if (now == '"') {
            yk_text_add(out, "\\(dq");
        } else if (now == '-' && (literal || strchr("\n \"(-", before))) {
            yk_text_add(out, "\\-");
        } else if (now == ' ' && !literal && column > FOLD_AFTER) {
            yk_text_add(out, "\n");
            now = '\n';
            column = 0;
        } else {
            yk_text_add(out, before == '\n' && (now == '.' || now == '\'') ? "\\&" : "");
            yk_text_add_bytes(out, &now, 1);
        }
        before = now;
    }
}

static void add_upper(struct yk_text *out, const char *words)
{
    for (const char *c = words; *c; c++) {
        const char upper = (char)toupper((unsigned char)*c);
        yk_text_add_bytes(out, &upper, 1);
    }
}

/* Adds `words` in the font B (bold) or I (italic). */
static void add_font(struct yk_text *out, char font, const char *words)
{
    yk_text_addf(out, "\\f%c", font);
    add_roff(out, words, true);
    yk_text_add(out, "\\fR");
}

static void add_title(const struct yk_command *command, struct yk_text *out)
{
    yk_text_add(out, ".TH YOKE");
    if (command->name) {
        yk_text_add(out, "-");
        add_upper(out, command->name);
    }
    yk_text_add(out, " 1 \"\" \"yoke " YOKE_VERSION "\" \"yoke manual\"\n.SH NAME\nyoke");
    if (command->name) {
        yk_text_addf(out, "\\-%s", command->name);
    }
    yk_text_add(out, " \\- ");
    add_roff(out, command->summary, false);
    yk_text_add(out, "\n");
}

static void add_synopsis(const struct yk_command *command, struct yk_text *out)
{
    struct yk_text words = {0};
    yk_command_write_name(command, &words);
    yk_text_add(out, ".SH SYNOPSIS\n");
    add_font(out, 'B', yk_text_chars(&words));
    yk_text_free(&words);
    if (!command->name) {
        yk_text_add(out, " \\fICOMMAND\\fR");
    }
    yk_text_add(out, " [\\fIOPTIONS\\fR]");
    for (size_t i = 0; i < command->operand_count; i++) {
        const struct yk_operand *operand = &command->operands[i];
        yk_text_add(out, operand->required ? " " : " [");
        add_font(out, 'I', operand->placeholder);
        yk_text_add(out, operand->many ? "..." : "");
        yk_text_add(out, operand->required ? "" : "]");
    }
    yk_text_add(out, "\n");
}

static void add_description(const struct yk_command *command, struct yk_text *out)
{
    yk_text_add(out, ".SH DESCRIPTION\n");
    struct yk_text paragraph = {0};
    const char *text = command->description;
    const char *separator = "";
    while (yk_command_next_description_paragraph(&text, &paragraph)) {
        yk_text_add(out, separator);
        add_roff(out, yk_text_chars(&paragraph), false);
        yk_text_add(out, "\n");
        separator = ".PP\n";
    }
    yk_text_free(&paragraph);
}

static void add_sentence(struct yk_text *out, const char *words)
{
    add_roff(out, words, false);
    yk_text_add(out, ".\n");
}

/* A list of names, with their summaries where they have any. */
static void add_choices(yk_option_choice_getter choices, struct yk_text *out)
{
    struct yk_option_choice choice = {0};
    if (!choices || !choices(0, &choice) || !choice.summary) {
        return;
    }
    yk_text_add(out, ".RS\n");
    for (size_t i = 0; choices(i, &choice); i++) {
        yk_text_add(out, ".TP\n");
        add_font(out, 'B', choice.name);
        yk_text_add(out, "\n");
        add_sentence(out, choice.summary);
    }
    yk_text_add(out, ".RE\n");
}

static void add_commands(struct yk_text *out)
{
    yk_text_add(out, ".SH COMMANDS\n");
    for (size_t i = 0; i < yk_command_get_table()->count; i++) {
        yk_text_addf(out, ".TP\n\\fByoke\\-%s\\fR(1)\n", yk_command_get_table()->verbs[i]->name);
        add_sentence(out, yk_command_get_table()->verbs[i]->summary);
    }
}

static void add_operands(const struct yk_command *command, struct yk_text *out)
{
    for (size_t i = 0; i < command->operand_count; i++) {
        const struct yk_operand *operand = &command->operands[i];
        yk_text_add(out, i == 0 ? ".SH OPERANDS\n.TP\n" : ".TP\n");
        add_font(out, 'I', operand->placeholder);
        yk_text_add(out, "\n");
        add_sentence(out, operand->help);
        add_choices(operand->choices, out);
    }
}

static void add_option(const struct yk_option *option, struct yk_text *out)
{
    yk_text_add(out, ".TP\n");
    if (option->letter) {
        yk_text_addf(out, "\\fB\\-%c\\fR, ", option->letter);
    }
    yk_text_add(out, "\\fB\\-\\-");
    add_roff(out, option->name, true);
    yk_text_add(out, "\\fR");
    if (option->placeholder) {
        yk_text_add(out, " ");
        add_font(out, 'I', option->placeholder);
    }
    struct yk_text help = {0};
    yk_options_write_help_and_default(option, &help);
    yk_text_add(out, "\n");
    add_sentence(out, yk_text_chars(&help));
    yk_text_free(&help);
    add_choices(option->choices, out);
}

static void add_options(const struct yk_command *command, struct yk_text *out)
{
    yk_text_add(out, ".SH OPTIONS\n");
    const char *group = "";
    const struct yk_option *option = NULL;
    for (size_t i = 0; (option = yk_options_get_nth_of_command(command, i)); i++) {
        if (option->group && strcmp(group, option->group) != 0) {
            group = option->group;
            yk_text_addf(out, ".SS %s\n", group);
        }
        add_option(option, out);
    }
}

static void add_examples(const struct yk_command *command, struct yk_text *out)
{
    yk_text_add(out, ".SH EXAMPLES\n");
    for (size_t i = 0; i < command->example_count; i++) {
        yk_text_add(out, ".TP\n");
        add_font(out, 'B', command->examples[i].line);
        yk_text_add(out, "\n");
        add_sentence(out, command->examples[i].what);
    }
}

static void add_exit_codes(const struct yk_command *command, struct yk_text *out)
{
    const struct yk_command_exit_code *row = NULL;
    yk_text_add(out, ".SH EXIT STATUS\n");
    for (size_t i = 0; (row = yk_command_nth_exit_code(command, i)); i++) {
        yk_text_addf(out, ".TP\n\\fB%d\\fR\n", (int)row->code);
        add_sentence(out, row->meaning);
    }
}

static void add_see_also(const struct yk_command *command, struct yk_text *out)
{
    yk_text_add(out, ".SH SEE ALSO\n");
    const char *separator = "";
    if (command->name) {
        yk_text_add(out, "\\fByoke\\fR(1)");
        separator = ",\n";
    }
    for (size_t i = 0; i < yk_command_get_table()->count; i++) {
        if (yk_command_get_table()->verbs[i] != command) {
            yk_text_addf(out, "%s\\fByoke\\-%s\\fR(1)", separator,
                         yk_command_get_table()->verbs[i]->name);
            separator = ",\n";
        }
    }
    yk_text_add(out, "\n");
}

yk_status yk_man_page_write(const struct yk_command *command, struct yk_text *out)
{
    add_title(command, out);
    add_synopsis(command, out);
    add_description(command, out);
    if (!command->name) {
        add_commands(out);
    }
    add_operands(command, out);
    add_options(command, out);
    add_examples(command, out);
    add_exit_codes(command, out);
    yk_text_add(out, ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\n"
                     "When set to anything but an empty string, no colour is used.\n");
    add_see_also(command, out);
    return yk_text_status(out);
}
