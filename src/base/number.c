#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* strtod() also accepts hexadecimal numbers, "inf" and leading spaces, which are not numbers here.
 */
static bool is_decimal(const char *word, size_t length)
{
    if (length == 0 || length >= 400) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (!isdigit((unsigned char)word[i]) && !strchr("+-.eE", word[i])) {
            return false;
        }
    }
    return true;
}

bool yk_number_parse(const char *word, size_t length, double *out)
{
    char digits[400];
    if (!is_decimal(word, length)) {
        return false;
    }
    memcpy(digits, word, length);
    digits[length] = '\0';
    char *end = NULL;
    const double value = strtod(digits, &end);
    if (end != digits + length || !isfinite(value)) {
        return false;
    }
    *out = value;
    return true;
}

bool yk_number_parse_integer(const char *word, size_t length, int64_t *out)
{
    char digits[32];
    if (length == 0 || length >= sizeof digits || isspace((unsigned char)word[0])) {
        return false;
    }
    memcpy(digits, word, length);
    digits[length] = '\0';
    char *end = NULL;
    errno = 0;
    const long long value = strtoll(digits, &end, 10);
    if (end != digits + length || errno != 0) {
        return false;
    }
    *out = value;
    return true;
}

void yk_number_format(double value, char out[YK_NUMBER_BUFFER_SIZE])
{
    const double magnitude = fabs(value);
    if (magnitude < 1e15 && value == trunc(value)) {
        snprintf(out, YK_NUMBER_BUFFER_SIZE, "%.0f", value == 0 ? 0 : value);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, YK_NUMBER_BUFFER_SIZE, "%.*g", digits, value);
        if (strtod(out, NULL) == value) {
            break;
        }
    }
}
