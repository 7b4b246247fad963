#include "cli/options/help_words.h"

#include <string.h>

void yk_options_add_name(const struct yk_option *option, struct yk_text *out)
{
    if (option->letter) {
        yk_text_addf(out, "-%c, ", option->letter);
    }
    yk_text_addf(out, "--%s", option->name);
    if (option->placeholder) {
        yk_text_addf(out, " %s", option->placeholder);
    }
}

void yk_options_add_help(const struct yk_option *option, struct yk_text *out)
{
    yk_text_add(out, option->help);
    if (option->preset) {
        yk_text_addf(out, " (default: %s)", option->preset);
    }
}

void yk_options_add_choices(yk_choices choices, struct yk_text *out)
{
    struct yk_choice choice = {0};
    for (size_t i = 0; choices(i, &choice); i++) {
        yk_text_addf(out, "%s%s", i > 0 ? " " : "", choice.name);
    }
}

bool yk_command_next_paragraph(const char **text, struct yk_text *out)
{
    if (!*text || !**text) {
        return false;
    }
    const char *end = strstr(*text, "\n\n");
    const size_t length = end ? (size_t)(end - *text) : strlen(*text);
    out->length = 0;
    yk_text_add_bytes(out, *text, length);
    *text += length + (end ? 2 : 0);
    return true;
}
