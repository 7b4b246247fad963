#include "tokenizer/jinja/library.h"

#include "tokenizer/jinja/operation.h"
#include "tokenizer/jinja/string.h"
#include "tokenizer/jinja/value_text.h"

#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MAX_NUMBER_BYTES = 400, /* of a text that is read as a number */
    MAX_PRECISION = 300,
    DECIMAL_STEPS = 32, /* of converting a float from or to a decimal */
    DIGITS_PER_STEP = 4
};

#define INTEGER_LIMIT 9.2e18 /* floats below this are integers of 64 bits */

static yk_status absolute(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    int64_t integer = 0;
    if (call->subject.kind == YK_JINJA_FLOAT) {
        *out = yk_jinja_value_float(fabs(call->subject.as.number));
        return YK_OK;
    }
    if (!yk_jinja_value_get_integer(call->subject, &integer)) {
        return call->subject.kind == YK_JINJA_UNDEFINED
                   ? yk_jinja_value_fail_undefined(call->subject)
                   : yk_fail(YK_ERROR_INPUT, "abs cannot be applied to a value of type %s",
                             yk_jinja_value_type_name(call->subject));
    }
    return yk_jinja_operation_apply_sign(yk_jinja_value_int(integer), integer < 0, out);
}

/* Copies the digits of a number without spaces around it and underscores between digits. */
static bool copy_number(const struct yk_jinja_string *string, char out[MAX_NUMBER_BYTES])
{
    size_t begin = 0;
    size_t end = string->length;
    size_t used = 0;
    while (begin < end && isspace((unsigned char)string->bytes[begin])) {
        begin++;
    }
    while (end > begin && isspace((unsigned char)string->bytes[end - 1])) {
        end--;
    }
    for (size_t i = begin; i < end; i++) {
        const char byte = string->bytes[i];
        const bool between = byte == '_' && i > begin && i + 1 < end &&
                             isalnum((unsigned char)string->bytes[i - 1]) &&
                             isalnum((unsigned char)string->bytes[i + 1]);
        if (byte == '\0' || used + 1 >= MAX_NUMBER_BYTES || (byte == '_' && !between)) {
            return false;
        }
        if (byte != '_') {
            out[used++] = byte;
        }
    }
    out[used] = '\0';
    return used > 0;
}

enum parsed {
    PARSED_NOT,
    PARSED,
    PARSED_TOO_LARGE
};

static enum parsed parse_integer(const struct yk_jinja_string *string, int64_t base, int64_t *out)
{
    char digits[MAX_NUMBER_BYTES];
    char *end = NULL;
    if (!copy_number(string, digits)) {
        return PARSED_NOT;
    }
    const char *begin = digits + (digits[0] == '-' || digits[0] == '+');
    /* strtoll() knows no other prefix than 0x, and octal numbers with a mere 0. */
    const int letter = begin[0] == '0' ? tolower((unsigned char)begin[1]) : '\0';
    const int prefix = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
    if (prefix > 0 && (base == prefix || base == 0)) {
        begin += 2;
        base = prefix;
    }
    if (base == 0) {
        base = 10;
    }
    if (!isalnum((unsigned char)begin[0]) || base < 2 || base > 36 ||
        (prefix == 16 && begin[0] == '0' && letter == 'x' && base != 16)) {
        return PARSED_NOT;
    }
    errno = 0;
    const unsigned long long magnitude = strtoull(begin, &end, (int)base);
    if (*end != '\0') {
        return PARSED_NOT;
    }
    if (errno != 0 || magnitude > INT64_MAX) {
        return PARSED_TOO_LARGE;
    }
    *out = digits[0] == '-' ? -(int64_t)magnitude : (int64_t)magnitude;
    return PARSED;
}

static bool parse_float(const struct yk_jinja_string *string, double *out)
{
    char digits[MAX_NUMBER_BYTES];
    char *end = NULL;
    /* strtod() also reads hexadecimal numbers and nan(…). */
    if (!copy_number(string, digits) || strpbrk(digits, "xXpP(")) {
        return false;
    }
    *out = strtod(digits, &end);
    return *end == '\0';
}

/* Counts the steps of reading the subject as a number, if it is a string. */
static yk_status charge_parsing(const struct yk_jinja_call *call)
{
    if (call->subject.kind != YK_JINJA_STRING) {
        return YK_OK;
    }
    YK_TRY(yk_jinja_run_step(call->run, DECIMAL_STEPS));
    return yk_jinja_run_charge_bytes(call->run, call->subject.as.string->length * 2);
}

static yk_status fail_large(void)
{
    return yk_fail(YK_ERROR_INPUT, "an integer is too large: integers have 64 bits here");
}

static yk_status truncate_float(double number, struct yk_jinja_value otherwise,
                                struct yk_jinja_value *out)
{
    *out = otherwise;
    if (isfinite(number)) {
        if (fabs(number) >= INTEGER_LIMIT) {
            return fail_large();
        }
        *out = yk_jinja_value_int((int64_t)number);
    }
    return YK_OK;
}

static yk_status to_int(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_value value = call->subject;
    const struct yk_jinja_value otherwise =
        call->values[0].kind == YK_JINJA_ABSENT ? yk_jinja_value_int(0) : call->values[0];
    int64_t integer = 0;
    int64_t base = 10;
    double number = 0;
    YK_TRY(yk_jinja_function_get_integer(call, 1, &base));
    YK_TRY(charge_parsing(call));
    *out = otherwise;
    if (value.kind == YK_JINJA_UNDEFINED) {
        return yk_jinja_value_fail_undefined(value);
    }
    if (yk_jinja_value_get_integer(value, &integer)) {
        *out = yk_jinja_value_int(integer);
        return YK_OK;
    }
    if (value.kind == YK_JINJA_FLOAT) {
        if (isinf(value.as.number)) {
            return fail_large(); /* Python cannot convert infinity */
        }
        return truncate_float(value.as.number, otherwise, out);
    }
    if (value.kind != YK_JINJA_STRING) {
        return YK_OK;
    }
    const enum parsed parsed = parse_integer(value.as.string, base, &integer);
    if (parsed == PARSED_TOO_LARGE) {
        return fail_large();
    }
    if (parsed == PARSED) {
        *out = yk_jinja_value_int(integer);
        return YK_OK;
    }
    return parse_float(value.as.string, &number) ? truncate_float(number, otherwise, out) : YK_OK;
}

static yk_status to_float(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    const struct yk_jinja_value value = call->subject;
    double number = 0;
    YK_TRY(charge_parsing(call));
    if (value.kind == YK_JINJA_UNDEFINED) {
        return yk_jinja_value_fail_undefined(value);
    }
    const bool found = yk_jinja_value_get_number(value, &number) ||
                       (value.kind == YK_JINJA_STRING && parse_float(value.as.string, &number));
    *out = found                                     ? yk_jinja_value_float(number)
           : call->values[0].kind == YK_JINJA_ABSENT ? yk_jinja_value_float(0)
                                                     : call->values[0];
    return YK_OK;
}

/* Rounds to decimals: the decimal digits of the number are rounded, half to even. */
static double round_decimals(double number, int64_t precision)
{
    char digits[800];
    if (!isfinite(number) || precision > MAX_PRECISION ||
        (precision >= 0 && fabs(number) >= INTEGER_LIMIT)) {
        return number;
    }
    if (precision >= 0) {
        (void)snprintf(digits, sizeof digits, "%.*f", (int)precision, number);
        return strtod(digits, NULL);
    }
    if (precision < -MAX_PRECISION) {
        return copysign(0, number);
    }
    const double scale = pow(10, (double)-precision);
    return nearbyint(number / scale) * scale;
}

static yk_status round_integer(int64_t integer, int64_t precision, struct yk_jinja_value *out)
{
    int64_t scale = 1;
    *out = yk_jinja_value_int(integer);
    for (; precision < 0; precision++) {
        if (__builtin_mul_overflow(scale, 10, &scale)) {
            *out = yk_jinja_value_int(0);
            return YK_OK;
        }
    }
    if (scale == 1) {
        return YK_OK;
    }
    const int64_t rest = integer % scale;
    const int64_t low = integer - rest;
    const int64_t away =
        llabs(rest) * 2 > scale || (llabs(rest) * 2 == scale && (low / scale) % 2 != 0)
            ? (integer < 0 ? -scale : scale)
            : 0;
    int64_t rounded = 0;
    if (__builtin_add_overflow(low, away, &rounded)) {
        return fail_large();
    }
    *out = yk_jinja_value_int(rounded);
    return YK_OK;
}

static yk_status round_number(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    int64_t precision = 0;
    int64_t integer = 0;
    double number = 0;
    const struct yk_jinja_value method = call->values[1];
    YK_TRY(yk_jinja_function_get_integer(call, 0, &precision));
    const bool is_ceil = yk_jinja_value_is_string(method, "ceil");
    const bool is_floor = yk_jinja_value_is_string(method, "floor");
    if (!is_ceil && !is_floor && method.kind != YK_JINJA_ABSENT &&
        !yk_jinja_value_is_string(method, "common")) {
        return yk_fail(YK_ERROR_INPUT, "the method of round must be common, ceil or floor");
    }
    if (!yk_jinja_value_get_number(call->subject, &number)) {
        return call->subject.kind == YK_JINJA_UNDEFINED
                   ? yk_jinja_value_fail_undefined(call->subject)
                   : yk_fail(YK_ERROR_INPUT, "round cannot be applied to a value of type %s",
                             yk_jinja_value_type_name(call->subject));
    }
    if (is_ceil || is_floor) {
        const double scale = pow(10, (double)precision);
        const double scaled = is_ceil ? ceil(number * scale) : floor(number * scale);
        if (!isfinite(scaled)) {
            return fail_large();
        }
        *out = yk_jinja_value_float(scaled / scale);
        return YK_OK;
    }
    if (yk_jinja_value_get_integer(call->subject, &integer)) {
        return round_integer(integer, precision, out);
    }
    const int64_t digits = precision > 0 && precision <= MAX_PRECISION ? precision : 0;
    YK_TRY(yk_jinja_run_step(call->run, DECIMAL_STEPS + digits / DIGITS_PER_STEP));
    *out = yk_jinja_value_float(round_decimals(number, precision));
    return YK_OK;
}

static yk_status filesizeformat(struct yk_jinja_call *call, struct yk_jinja_value *out)
{
    static const char *const prefixes[] = {"k", "M", "G", "T", "P", "E", "Z", "Y"};
    const bool binary = yk_jinja_function_get_truth(call, 0, false);
    const double base = binary ? 1024 : 1000;
    double bytes = 0;
    struct yk_text text = {0};
    YK_TRY(charge_parsing(call));
    YK_TRY(yk_jinja_run_step(call->run, DECIMAL_STEPS));
    if (!yk_jinja_value_get_number(call->subject, &bytes) &&
        !(call->subject.kind == YK_JINJA_STRING && parse_float(call->subject.as.string, &bytes))) {
        return yk_fail(YK_ERROR_INPUT, "filesizeformat needs a number");
    }
    if (bytes == 1) {
        yk_text_add(&text, "1 Byte");
    } else if (bytes < base) {
        yk_text_addf(&text, "%.0f Bytes", trunc(bytes));
    } else {
        double unit = base * base;
        size_t i = 0;
        while (!(bytes < unit) && i + 1 < sizeof prefixes / sizeof *prefixes) {
            unit *= base;
            i++;
        }
        const char *prefix = binary && i == 0 ? "K" : prefixes[i];
        yk_text_addf(&text, "%.1f %s%s", base * bytes / unit, prefix, binary ? "iB" : "B");
    }
    return yk_jinja_string_from_text(call->run, &text, out);
}

static const struct yk_jinja_function filters[] = {
    {.name = "abs", .call = absolute},
    {.name = "int", .call = to_int, .parameters = {"default", "base"}},
    {.name = "float", .call = to_float, .parameters = {"default"}},
    {.name = "round", .call = round_number, .parameters = {"precision", "method"}},
    {.name = "filesizeformat", .call = filesizeformat, .parameters = {"binary"}},
};

const struct yk_jinja_function_table yk_jinja_number_filters = YK_JINJA_FUNCTION_TABLE(filters);
