/* Token files: shards of tokens as llm.c writes them, for tests. */
#ifndef YK_TESTS_SUPPORT_FILES_TOKEN_FILES_H
#define YK_TESTS_SUPPORT_FILES_TOKEN_FILES_H

#include <stdint.h>

/* Writes `count` tokens into the scratch folder, in a file whose header says that there are
 * `said`; returns its path. */
const char *support_write_shard(const char *name, const uint16_t *tokens, int count, int32_t said);

#endif
