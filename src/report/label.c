#include "report/label.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double PIXELS_PER_COLUMN = 6.7;

static void drop_trailing_zeros(char *digits)
{
    if (!strchr(digits, '.')) {
        return;
    }
    size_t length = strlen(digits);
    while (digits[length - 1] == '0') {
        length--;
    }
    if (digits[length - 1] == '.') {
        length--;
    }
    digits[length] = '\0';
}

const char *yk_label_format_number(double value, char out[YK_NUMBER_BUFFER_SIZE])
{
    const double magnitude = fabs(value);
    if (value == 0 || magnitude >= 1e15 || magnitude < 1e-4) {
        snprintf(out, YK_NUMBER_BUFFER_SIZE, "%.6g", value == 0 ? 0 : value);
        return out;
    }
    const int before_point = (int)floor(log10(magnitude)) + 1;
    const int decimals = before_point < 6 ? 6 - before_point : 0;
    snprintf(out, YK_NUMBER_BUFFER_SIZE, "%.*f", decimals, value);
    drop_trailing_zeros(out);
    return out;
}

const char *yk_label_format_graph_time(const struct yk_graph *graph, int64_t ticks,
                                       char out[YK_NUMBER_BUFFER_SIZE])
{
    return yk_label_format_number(yk_graph_ticks_to_time(graph, ticks), out);
}

const char *yk_label_format_count(int64_t count, char out[YK_NUMBER_BUFFER_SIZE])
{
    char digits[YK_NUMBER_BUFFER_SIZE];
    const int length = snprintf(digits, sizeof digits, "%lld", (long long)count);
    int written = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && digits[i - 1] != '-' && (length - i) % 3 == 0) {
            out[written++] = ',';
        }
        out[written++] = digits[i];
    }
    out[written] = '\0';
    return out;
}

const char *yk_label_format_speed(double per_s, char out[YK_NUMBER_BUFFER_SIZE])
{
    if (fabs(per_s) >= 100) {
        return yk_label_format_count(llround(per_s), out);
    }
    snprintf(out, YK_NUMBER_BUFFER_SIZE, "%.*f", per_s < 10 ? 2 : 1, per_s);
    return out;
}

const char *yk_label_format_percent(double part, double whole, char out[YK_NUMBER_BUFFER_SIZE])
{
    /* printf alone would round 61.25 down and 53.75 up. */
    snprintf(out, YK_NUMBER_BUFFER_SIZE, "%.1f%%", whole > 0 ? round(1000 * part / whole) / 10 : 0);
    return out;
}

const char *yk_label_format_with_unit(double value, enum yk_unit unit,
                                      char out[YK_UNITS_BUFFER_SIZE])
{
    /* A difference of equal times may leave a rounding error. */
    const bool nothing = fabs(value) < (unit == YK_UNIT_SECONDS ? 1e-12 : 1e-300);
    if (isfinite(value) && !nothing) {
        return yk_units_format(value, unit, out);
    }
    snprintf(out, YK_UNITS_BUFFER_SIZE, "%s", nothing ? "0" : "none");
    return out;
}

double yk_label_estimate_width_pixels(const char *text)
{
    return (double)yk_text_display_width(text) * PIXELS_PER_COLUMN;
}

void yk_label_add_truncated_xml(struct yk_text *text, const char *label, double pixels)
{
    if (yk_label_estimate_width_pixels(label) <= pixels) {
        yk_text_add_xml_escaped(text, label);
        return;
    }
    const double columns = fmax(0, floor(pixels / PIXELS_PER_COLUMN) - 1);
    yk_text_add_xml_escaped_bytes(text, label,
                                  yk_text_fitting_prefix_length(label, (size_t)columns));
    yk_text_add(text, "\xe2\x80\xa6");
}

double yk_label_choose_axis_step(double span, int parts)
{
    const double min = span / parts;
    const double power = pow(10, floor(log10(min)));
    static const double factors[] = {1, 2, 5};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        /* Division and pow round: a step that falls short by noise alone is accepted. */
        if (factors[i] * power >= min * (1 - 1e-9)) {
            return factors[i] * power;
        }
    }
    return 10 * power;
}
