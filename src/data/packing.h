/*
 * Packing: items of different lengths in few windows of one length: first-fit decreasing (Johnson,
 * 1973), which needs at most 11/9 of the fewest windows possible, and 6/9 more (Dósa, 2007). The
 * longest item comes first, items of one length in their order; each goes into the first window
 * that has space. Any thread.
 */
#ifndef YK_DATA_PACKING_H
#define YK_DATA_PACKING_H

#include "base/status.h"

#include <stdint.h>

struct yk_packing {
    int64_t *items;  /* (things) those of the first window, of the second … */
    int64_t *starts; /* (windows + 1) in `items` */
    int64_t windows;
};

/* `count` > 0 lengths from 1 to `room`. */
yk_status yk_packing_compute(const int64_t *lengths, int64_t count, int64_t room,
                             struct yk_packing *out) YK_MUST_USE;

/* Also of one that is {0}. */
void yk_packing_free(struct yk_packing *packing);

#endif
