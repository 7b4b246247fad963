#include "cli/options/help_page.h"

#include "cli/options/command.h"

#include <stdio.h>
#include <string.h>

enum {
    NARROWEST = 40,
    WIDEST = 100,
    MAX_LEFT = 24, /* a left column wider than this gets a line of its own */
};

struct page {
    struct yk_text *out;
    size_t width;
};

/* A row of two columns: `left` at `indent`, `right` folded at `middle`. */
static void add_row(const struct page *page, const char *left, const char *right, size_t indent,
                    size_t middle)
{
    yk_text_add_repeated(page->out, " ", indent);
    yk_text_add(page->out, left);
    const size_t column = indent + strlen(left);
    if (column + 2 > middle) {
        yk_text_add(page->out, "\n");
        yk_text_add_repeated(page->out, " ", middle);
    } else {
        yk_text_add_repeated(page->out, " ", middle - column);
    }
    yk_text_add_folded(page->out, right, middle, middle, page->width);
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void add_choices(const struct page *page, yk_option_choice_getter choices, size_t indent)
{
    struct yk_option_choice choice = {0};
    size_t middle = 0;
    for (size_t i = 0; choices(i, &choice); i++) {
        middle = max_size(middle, indent + strlen(choice.name) + 2);
    }
    for (size_t i = 0; choices(i, &choice); i++) {
        add_row(page, choice.name, choice.summary ? choice.summary : "", indent, middle);
    }
}

static bool has_descriptions(yk_option_choice_getter choices)
{
    struct yk_option_choice choice = {0};
    return choices && choices(0, &choice) && choice.summary;
}

static void add_examples(const struct page *page, const struct yk_command *command)
{
    yk_text_add(page->out, command->example_count > 1 ? "Examples:\n" : "Example:\n");
    for (size_t i = 0; i < command->example_count; i++) {
        yk_text_addf(page->out, "  %s\n      ", command->examples[i].line);
        yk_text_add_folded(page->out, command->examples[i].what, 6, 6, page->width);
    }
    yk_text_add(page->out, "\n");
}

static void add_usage(const struct page *page, const struct yk_command *command)
{
    yk_text_add(page->out, "Usage:\n  ");
    yk_command_write_usage(command, page->out);
    yk_text_add(page->out, "\n\n");
}

static void add_description(const struct page *page, const struct yk_command *command)
{
    const char *text = command->description;
    struct yk_text paragraph = {0};
    while (yk_command_next_description_paragraph(&text, &paragraph)) {
        yk_text_add_folded(page->out, yk_text_chars(&paragraph), 0, 0, page->width);
        yk_text_add(page->out, "\n");
    }
    yk_text_free(&paragraph);
}

static void add_verbs(const struct page *page)
{
    yk_text_add(page->out, "Commands:\n");
    add_choices(page, yk_command_get_verb_choice, 2);
    yk_text_add(page->out, "\n");
}

static void add_operands(const struct page *page, const struct yk_command *command)
{
    size_t longest = 0;
    for (size_t i = 0; i < command->operand_count; i++) {
        longest = max_size(longest, strlen(command->operands[i].placeholder));
    }
    for (size_t i = 0; i < command->operand_count; i++) {
        const struct yk_operand *operand = &command->operands[i];
        yk_text_add(page->out, i == 0 ? "Operands:\n" : "");
        add_row(page, operand->placeholder, operand->help, 2, 4 + longest);
        if (has_descriptions(operand->choices)) {
            add_choices(page, operand->choices, 6);
        }
    }
    yk_text_add(page->out, command->operand_count > 0 ? "\n" : "");
}

static size_t option_column(const struct yk_command *command)
{
    size_t middle = 0;
    const struct yk_option *option = NULL;
    for (size_t i = 0; (option = yk_options_get_nth_of_command(command, i)); i++) {
        struct yk_text left = {0};
        yk_options_write_name_and_placeholder(option, &left);
        middle = left.length <= MAX_LEFT ? max_size(middle, 2 + left.length + 2) : middle;
        yk_text_free(&left);
    }
    return middle;
}

static void add_options(const struct page *page, const struct yk_command *command)
{
    const size_t middle = option_column(command);
    const char *group = NULL;
    const struct yk_option *option = NULL;
    for (size_t i = 0; (option = yk_options_get_nth_of_command(command, i)); i++) {
        if (!group || (option->group && strcmp(group, option->group) != 0)) {
            yk_text_add(page->out, group ? "\n" : "");
            group = option->group ? option->group : "Options";
            yk_text_addf(page->out, "%s:\n", group);
        }
        struct yk_text left = {0};
        struct yk_text right = {0};
        yk_options_write_name_and_placeholder(option, &left);
        yk_options_write_help_and_default(option, &right);
        add_row(page, yk_text_chars(&left), yk_text_chars(&right), 2, middle);
        if (has_descriptions(option->choices)) {
            add_choices(page, option->choices, middle + 2);
        }
        yk_text_free(&left);
        yk_text_free(&right);
    }
    yk_text_add(page->out, "\n");
}

static void add_exit_codes(const struct page *page, const struct yk_command *command)
{
    const struct yk_command_exit_code *row = NULL;
    yk_text_add(page->out, "Exit codes:\n");
    for (size_t i = 0; (row = yk_command_nth_exit_code(command, i)); i++) {
        char code[16];
        snprintf(code, sizeof code, "%d", (int)row->code);
        add_row(page, code, row->meaning, 2, 6);
    }
}

static struct page page_of(int width, struct yk_text *out)
{
    const int clamped = width < NARROWEST ? NARROWEST : width > WIDEST ? WIDEST : width;
    return (struct page){out, (size_t)clamped};
}

yk_status yk_help_page_write(const struct yk_command *command, int width, struct yk_text *out)
{
    const struct page page = page_of(width, out);
    yk_command_write_name(command, out);
    yk_text_addf(out, ": %s\n\n", command->summary);
    add_examples(&page, command);
    add_usage(&page, command);
    add_description(&page, command);
    if (!command->name) {
        add_verbs(&page);
    }
    add_operands(&page, command);
    add_options(&page, command);
    add_exit_codes(&page, command);
    return yk_text_status(out);
}

yk_status yk_help_page_write_overview(int width, struct yk_text *out)
{
    const struct page page = page_of(width, out);
    add_usage(&page, yk_command_get_table()->root);
    add_verbs(&page);
    yk_text_add(out, "\"yoke help COMMAND\" tells more; \"yoke schedule --example\" shows what it "
                     "does.\n");
    return yk_text_status(out);
}
