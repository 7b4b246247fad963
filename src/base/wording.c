#include "base/wording.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>

/* From here on, digits behind the sixth tell nothing. */
#define HUGE_PERPLEXITY 1e6
#define MOST_SECONDS 1e15

const char *yk_text_plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

void yk_text_add_duration(double seconds, struct yk_text *out)
{
    char few[YK_UNITS_SIZE];
    if (!(seconds >= 59.5)) {
        yk_units_format(seconds, YK_UNIT_SECONDS, few);
        yk_text_add(out, few);
        return;
    }
    const int64_t all = (int64_t)fmin(round(seconds), MOST_SECONDS);
    if (all < 3600) {
        yk_text_addf(out, "%" PRId64 "min %" PRId64 "s", all / 60, all % 60);
    } else {
        yk_text_addf(out, "%" PRId64 "h %" PRId64 "min", all / 3600, all % 3600 / 60);
    }
}

void yk_text_add_perplexity(double loss, int decimals, struct yk_text *out)
{
    const double perplexity = exp(loss);
    if (perplexity < HUGE_PERPLEXITY) {
        yk_text_addf(out, "%.*f", decimals, perplexity);
    } else if (isfinite(perplexity) || !isfinite(loss)) {
        yk_text_addf(out, "%.2e", perplexity);
    } else {
        /* exp(loss) = 10^(loss / ln 10), beyond what a double holds. */
        const double digits = loss / log(10);
        yk_text_addf(out, "%.2fe+%.0f", pow(10, digits - floor(digits)), floor(digits));
    }
}
