/*
 * Fuzz target of safetensors files. The bytes are a file; the header is also read with the size it
 * would like the file to have, so that few bytes can claim large tensors. What is accepted must
 * keep the promises of safetensors.h.
 */
#include "fuzz/fuzz.h"

#include "tensors/safetensors.h"

#include <stdlib.h>
#include <string.h>

static void check(const struct yk_safetensors_header *header, uint64_t begin, uint64_t file_size)
{
    uint64_t at = begin;
    for (int32_t i = 0; i < header->count; i++) {
        const struct yk_tensor_file_entry *entry = &header->entries[i];
        uint64_t bytes = 0;
        fuzz_expect(entry->type >= 0 && entry->type < YK_TENSOR_DTYPE_COUNT, "types are known");
        fuzz_expect(entry->rank >= 0 && entry->rank <= YK_TENSOR_MAX_RANK, "ranks have a limit");
        fuzz_expect(yk_tensor_compute_bytes(entry->type, entry->rank, entry->shape, &bytes) &&
                        bytes == entry->bytes,
                    "bytes are those of type and shape");
        fuzz_expect(entry->offset == at, "tensors follow each other");
        fuzz_expect(strcmp(entry->name, "__metadata__") != 0, "metadata is no tensor");
        at += entry->bytes;
    }
    fuzz_expect(at == file_size, "tensors end where the file does");
    for (int32_t i = 0; i < header->metadata_count; i++) {
        fuzz_expect(header->metadata[i].key && header->metadata[i].value, "notes are whole");
    }
}

/* The size of a file that holds all that the header claims: what the refusal says it should be. */
static bool claimed_size(uint64_t *out)
{
    static const char cut_off[] = "fuzz: the file is cut off: ";
    const char *message = yk_status_message();
    const char *whole = strstr(message, " of ");
    if (strncmp(message, cut_off, sizeof cut_off - 1) != 0 || !whole) {
        return false;
    }
    *out = strtoull(whole + strlen(" of "), NULL, 10);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yk_arena *arena = NULL;
    const struct yk_safetensors_header *header = NULL;
    uint64_t length = 0;
    uint64_t file_size = size;
    if (yk_safetensors_header_parse_length(data, size, size, "fuzz", &length) != YK_OK) {
        return 0;
    }
    fuzz_expect(length <= size - YK_SAFETENSORS_PREFIX_BYTES, "the header lies in the file");
    fuzz_expect(yk_arena_create(&arena) == YK_OK, "there is memory");
    const char *json = (const char *)data + YK_SAFETENSORS_PREFIX_BYTES;
    yk_status status =
        yk_safetensors_header_parse(json, (size_t)length, file_size, "fuzz", arena, &header);
    if (status != YK_OK && claimed_size(&file_size)) {
        status =
            yk_safetensors_header_parse(json, (size_t)length, file_size, "fuzz", arena, &header);
        fuzz_expect(status == YK_OK, "what is missing is all that is wrong");
    }
    if (status == YK_OK) {
        fuzz_accept();
        check(header, YK_SAFETENSORS_PREFIX_BYTES + length, file_size);
    }
    yk_arena_destroy(arena);
    return 0;
}
