/* Spelling: whether two spellings mean one product: "RTX 3090", "rtx-3090" and "rtx3090" do. */
#ifndef YK_CLUSTER_SPELLING_H
#define YK_CLUSTER_SPELLING_H

#include <stdbool.h>

/* Compares without regard to case, '-', '_' and ' '. */
bool yk_datasheet_same_name(const char *a, const char *b);

#endif
