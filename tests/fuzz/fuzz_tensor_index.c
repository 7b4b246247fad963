/*
 * Fuzz target of model.safetensors.index.json: the bytes are an index beside two files of tensors,
 * a.safetensors with "x" and "y" and b.safetensors with "y" and "z". A set that is accepted must
 * keep the promises of tensor_set.h.
 */
#include "fuzz/fuzz.h"

#include "tensors/tensor_set.h"

#include <stdio.h>
#include <string.h>

static void write_tensors(const char *name, const char *first, const char *second)
{
    char path[FUZZ_PATH_SIZE];
    char file[256] = {0};
    const int length =
        snprintf(file + YK_SAFETENSORS_PREFIX_BYTES, sizeof file - YK_SAFETENSORS_PREFIX_BYTES,
                 "{\"%s\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
                 "\"%s\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[2,6]}}",
                 first, second);
    file[0] = (char)length;
    fuzz_write_file(name, file, YK_SAFETENSORS_PREFIX_BYTES + (size_t)length + 6, path);
}

static void check_place(const struct yk_tensor_set *set, const struct yk_tensor_location *place)
{
    const char *folder = fuzz_folder();
    const char *path = place->file->path;
    unsigned char bytes[4];
    fuzz_expect(yk_tensor_set_find_tensor(set, place->entry->name) == place, "names are unique");
    fuzz_expect(strncmp(path, folder, strlen(folder)) == 0 && path[strlen(folder)] == '/' &&
                    !strchr(path + strlen(folder) + 1, '/'),
                "files are beside the index");
    fuzz_expect(yk_safetensors_find_tensor(place->file, place->entry->name) == place->entry,
                "a tensor is in the file that the index names");
    fuzz_expect(yk_safetensors_read_tensor_range(place->file, place->entry, 0, place->entry->bytes,
                                                 bytes) == YK_OK,
                "tensors can be read");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool ready;
    char path[FUZZ_PATH_SIZE];
    struct yk_tensor_set *set = NULL;
    const struct yk_tensor_location *place = NULL;
    if (!ready) {
        write_tensors("a.safetensors", "x", "y");
        write_tensors("b.safetensors", "y", "z");
        ready = true;
    }
    fuzz_write_file("model.safetensors.index.json", data, size, path);
    if (yk_tensor_set_open(fuzz_folder(), &set) != YK_OK) {
        fuzz_expect(yk_status_message()[0] != '\0', "a refusal says why");
        return 0;
    }
    fuzz_accept();
    fuzz_expect(set->count <= 3 && set->file_count <= 2, "there is no more than there is");
    for (int32_t i = 0; i < set->count; i++) {
        check_place(set, &set->locations[i]);
    }
    fuzz_expect(yk_tensor_set_find_tensor_or_fail(set, "no such tensor", &place) != YK_OK && !place,
                "what is not there is refused");
    yk_tensor_set_close(set);
    return 0;
}
