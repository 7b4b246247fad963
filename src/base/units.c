#include "base/units.h"

#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct suffix {
    const char *name;
    double factor;
};

struct family {
    const char *what;
    const char *example;
    const struct suffix *read; /* all suffixes that are accepted, up to a NULL name */
    const struct suffix *show; /* the suffixes for output, largest first, up to a NULL name */
};

#define KI 1024.0
#define MI (KI * KI)
#define GI (KI * MI)
#define TI (KI * GI)

static const struct suffix bytes_read[] = {
    {"B", 1},     {"KB", 1e3}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
    {"PB", 1e15}, {"KiB", KI}, {"MiB", MI}, {"GiB", GI}, {"TiB", TI}, {NULL, 0},
};
static const struct suffix bytes_show[] = {
    {"TiB", TI}, {"GiB", GI}, {"MiB", MI}, {"KiB", KI}, {"B", 1}, {NULL, 0},
};
static const struct suffix rate_read[] = {
    {"B/s", 1},       {"KB/s", 1e3},   {"kB/s", 1e3},      {"MB/s", 1e6},      {"GB/s", 1e9},
    {"TB/s", 1e12},   {"KiB/s", KI},   {"MiB/s", MI},      {"GiB/s", GI},      {"TiB/s", TI},
    {"bit/s", 0.125}, {"Kbit/s", 125}, {"Mbit/s", 1.25e5}, {"Gbit/s", 1.25e8}, {"Gb/s", 1.25e8},
    {"MbE", 1.25e5},  {"GbE", 1.25e8}, {NULL, 0},
};
static const struct suffix rate_show[] = {
    {"TB/s", 1e12}, {"GB/s", 1e9}, {"MB/s", 1e6}, {"KB/s", 1e3}, {"B/s", 1}, {NULL, 0},
};
static const struct suffix seconds_read[] = {
    {"s", 1},     {"ms", 1e-3}, {"us", 1e-6}, {"\xc2\xb5s", 1e-6},
    {"ns", 1e-9}, {"min", 60},  {"h", 3600},  {NULL, 0},
};
static const struct suffix seconds_show[] = {
    {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {NULL, 0},
};
static const struct suffix flops_read[] = {
    {"FLOPS", 1},     {"KFLOPS", 1e3},  {"MFLOPS", 1e6},  {"GFLOPS", 1e9},
    {"TFLOPS", 1e12}, {"PFLOPS", 1e15}, {"EFLOPS", 1e18}, {NULL, 0},
};
static const struct suffix flops_show[] = {
    {"PFLOPS", 1e15}, {"TFLOPS", 1e12}, {"GFLOPS", 1e9}, {"MFLOPS", 1e6}, {"FLOPS", 1}, {NULL, 0},
};

static const struct family families[] = {
    [YK_UNIT_BYTES] = {"size", "24GiB", bytes_read, bytes_show},
    [YK_UNIT_BYTES_PER_S] = {"bandwidth", "32GB/s", rate_read, rate_show},
    [YK_UNIT_SECONDS] = {"time", "10us", seconds_read, seconds_show},
    [YK_UNIT_FLOPS] = {"rate", "91.1TFLOPS", flops_read, flops_show},
};

/* Where the number ends and the unit begins. An 'e' is part of the number only before digits. */
static size_t number_length(const char *word)
{
    size_t length = strspn(word, "+-.0123456789");
    if (word[length] == 'e' || word[length] == 'E') {
        const size_t sign = word[length + 1] == '-' || word[length + 1] == '+' ? 1 : 0;
        const size_t digits = strspn(word + length + 1 + sign, "0123456789");
        length += digits > 0 ? 1 + sign + digits : 0;
    }
    return length;
}

yk_status yk_units_parse(const char *word, enum yk_unit unit, double *out)
{
    const struct family *family = &families[unit];
    const size_t length = number_length(word);
    double number = 0;
    if (!yk_number_parse(word, length, &number)) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" is not a %s; write it like %s", word, family->what,
                       family->example);
    }
    const char *name = word + length;
    while (isspace((unsigned char)*name)) {
        name++;
    }
    if (!*name) {
        return yk_fail(YK_ERROR_INPUT, "\"%s\" has no unit; write a %s like %s", word, family->what,
                       family->example);
    }
    for (const struct suffix *suffix = family->read; suffix->name; suffix++) {
        if (strcmp(suffix->name, name) == 0) {
            *out = number * suffix->factor;
            return isfinite(*out) ? YK_OK : yk_fail(YK_ERROR_INPUT, "\"%s\" is too large", word);
        }
    }
    return yk_fail(YK_ERROR_INPUT, "\"%s\": no %s has the unit \"%s\"; write it like %s", word,
                   family->what, name, family->example);
}

const char *yk_units_format(double value, enum yk_unit unit, char out[YK_UNITS_BUFFER_SIZE])
{
    const struct suffix *suffix = families[unit].show;
    while (suffix[1].name && fabs(value) < suffix->factor * 0.9995) {
        suffix++;
    }
    const double scaled = value / suffix->factor;
    const double magnitude = fabs(scaled);
    const int decimals = magnitude >= 99.95 || scaled == trunc(scaled) ? 0
                         : magnitude < 9.995                           ? 2
                                                                       : 1;
    snprintf(out, YK_UNITS_BUFFER_SIZE, "%.*f%s", decimals, value == 0 ? 0 : scaled, suffix->name);
    return out;
}
