/* Wording: numbers as they are written for people. Any thread may call this. */
#ifndef YK_BASE_WORDING_H
#define YK_BASE_WORDING_H

#include "base/text.h"

#include <stdint.h>

/* "s" behind what there are several of. */
const char *yk_text_plural(int64_t count);

/* "850ms", "42.1s", "3min 7s", "2h 15min". */
void yk_text_add_duration(double seconds, struct yk_text *out);

/* The perplexity of a loss, with so many decimals unless it is huge. */
void yk_text_add_perplexity(double loss, int decimals, struct yk_text *out);

#endif
