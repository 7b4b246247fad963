#include "cluster/datasheet.h"

#include "base/nearest_name.h"

#include <ctype.h>
#include <string.h>

static const char *skip_separators(const char *word)
{
    return word + strspn(word, "-_ ");
}

bool yk_datasheet_is_same_name(const char *a, const char *b)
{
    a = skip_separators(a);
    b = skip_separators(b);
    while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) {
        a = skip_separators(a + 1);
        b = skip_separators(b + 1);
    }
    return !*a && !*b;
}

enum {
    MIN_SHORT_FORM = 3,
    MAX_NAMES = 256
};

static bool has_name(const struct yk_datasheet *sheet, const char *name)
{
    if (yk_datasheet_is_same_name(sheet->name, name) ||
        yk_datasheet_is_same_name(sheet->title, name)) {
        return true;
    }
    for (const char *const *also = sheet->aliases; also && *also; also++) {
        if (yk_datasheet_is_same_name(*also, name)) {
            return true;
        }
    }
    return false;
}

const struct yk_datasheet *yk_datasheet_find(const char *name)
{
    for (size_t i = 0; i < yk_datasheet_count; i++) {
        if (has_name(&yk_datasheets[i], name)) {
            return &yk_datasheets[i];
        }
    }
    return NULL;
}

/* The first name that `word` is a part of, and so probably a short form of; NULL when none is. */
static const char *first_with(const char *word, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(word) >= MIN_SHORT_FORM && strcasestr(names[i], word)) {
            return names[i];
        }
    }
    return NULL;
}

size_t yk_datasheet_nearest_names(const char *name, const char **out, size_t capacity)
{
    const char *names[MAX_NAMES] = {0};
    size_t left = 0;
    for (size_t i = 0; i < yk_datasheet_count && left < MAX_NAMES; i++) {
        names[left++] = yk_datasheets[i].name;
    }
    size_t found = 0;
    while (found < capacity) {
        const char *nearest = first_with(name, names, left);
        nearest = nearest ? nearest : yk_nearest_name(name, names, left);
        if (!nearest) {
            break;
        }
        out[found++] = nearest;
        size_t kept = 0;
        for (size_t i = 0; i < left; i++) {
            if (names[i] != nearest) {
                names[kept++] = names[i];
            }
        }
        left = kept;
    }
    return found;
}

const char *yk_datasheet_nearest_name(const char *name)
{
    const char *nearest = NULL;
    return yk_datasheet_nearest_names(name, &nearest, 1) > 0 ? nearest : NULL;
}

const char *yk_datasheet_generation_name(enum yk_device_generation generation)
{
    static const char *const names[YK_DEVICE_GENERATION_COUNT] = {
        [YK_DEVICE_GENERATION_UNKNOWN] = "unknown", [YK_DEVICE_GENERATION_PASCAL] = "Pascal",
        [YK_DEVICE_GENERATION_VOLTA] = "Volta",     [YK_DEVICE_GENERATION_TURING] = "Turing",
        [YK_DEVICE_GENERATION_AMPERE] = "Ampere",   [YK_DEVICE_GENERATION_ADA] = "Ada",
        [YK_DEVICE_GENERATION_HOPPER] = "Hopper",   [YK_DEVICE_GENERATION_BLACKWELL] = "Blackwell",
        [YK_DEVICE_GENERATION_CDNA] = "CDNA",       [YK_DEVICE_GENERATION_CPU] = "CPU",
    };
    return names[generation];
}
