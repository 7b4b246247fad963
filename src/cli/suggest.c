#include "cli/suggest.h"

#include "base/nearest.h"

#include <string.h>

enum {
    MOST_NAMES = 64
};

struct name_list {
    const char *names[MOST_NAMES];
    size_t count;
};

static const char *suggest(const char *word, const struct name_list *list)
{
    const char *found = NULL;
    size_t matches = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (*word && strncmp(list->names[i], word, strlen(word)) == 0) {
            found = list->names[i];
            matches++;
        }
    }
    return matches == 1 ? found : yk_nearest(word, list->names, list->count);
}

const char *yk_suggest_choice(const char *word, yk_choices choices)
{
    struct name_list list = {0};
    struct yk_choice choice = {0};
    while (list.count < MOST_NAMES && choices(list.count, &choice)) {
        list.names[list.count++] = choice.name;
    }
    return suggest(word, &list);
}

const char *yk_suggest_option(const char *word, const struct yk_command *command)
{
    struct name_list list = {0};
    const struct yk_option *option = NULL;
    while (list.count < MOST_NAMES && (option = yk_options_at(command, list.count))) {
        list.names[list.count++] = option->name;
    }
    return suggest(word, &list);
}
