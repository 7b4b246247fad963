#include "cli/options/help_words.h"

void yk_help_words_add_option(const struct yk_option *option, struct yk_text *out)
{
    if (option->letter) {
        yk_text_addf(out, "-%c, ", option->letter);
    }
    yk_text_addf(out, "--%s", option->name);
    if (option->placeholder) {
        yk_text_addf(out, " %s", option->placeholder);
    }
}

void yk_help_words_add_help(const struct yk_option *option, struct yk_text *out)
{
    yk_text_add(out, option->help);
    if (option->preset) {
        yk_text_addf(out, " (default: %s)", option->preset);
    }
}
