#include "train/checkpoint/shard.h"

#include "backend/ops.h"
#include "base/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const kind_names[YK_SHARD_KINDS] = {"weights", "moment1", "moment2", "fp32",
                                                       "bf16",    "fp16",    "nf4"};

static const char FILE_FORM[] = "shard-%05" PRId32 "-of-%05" PRId32 ".safetensors";

/* Where the numbers are in it. */
enum {
    FILE_RANK = sizeof "shard-" - 1,
    FILE_DIGITS = 5,
    FILE_RANKS = sizeof "shard-00000-of-" - 1,
    LONGEST_FILE_NAME = 64,
};

void yk_shard_add_file_name(struct yk_text *out, int32_t rank, int32_t ranks)
{
    yk_text_addf(out, FILE_FORM, rank + 1, ranks);
}

bool yk_shard_read_file_name(const char *name, int32_t *rank, int32_t *ranks)
{
    char again[LONGEST_FILE_NAME];
    int64_t number = 0;
    int64_t all = 0;
    if (strlen(name) < FILE_RANKS + FILE_DIGITS ||
        !yk_number_read_integer(name + FILE_RANK, FILE_DIGITS, &number) ||
        !yk_number_read_integer(name + FILE_RANKS, FILE_DIGITS, &all) || number < 1 ||
        number > all || all > YK_SHARD_MAX_RANKS) {
        return false;
    }
    snprintf(again, sizeof again, FILE_FORM, (int32_t)number, (int32_t)all);
    *rank = (int32_t)number - 1;
    *ranks = (int32_t)all;
    return strcmp(name, again) == 0;
}

const char *yk_shard_kind_name(enum yk_shard_kind kind)
{
    return kind_names[kind];
}

void yk_shard_add_slice_name(struct yk_text *out, enum yk_shard_kind kind, const char *parameter,
                             int64_t first)
{
    yk_text_addf(out, "%s.%s@%" PRId64, kind_names[kind], parameter, first);
}

static bool read_kind(const char *name, size_t length, enum yk_shard_kind *out)
{
    for (int kind = 0; kind < YK_SHARD_KINDS; kind++) {
        if (strlen(kind_names[kind]) == length && memcmp(name, kind_names[kind], length) == 0) {
            *out = (enum yk_shard_kind)kind;
            return true;
        }
    }
    return false;
}

bool yk_shard_read_slice_name(const char *name, struct yk_shard_slice *out)
{
    const char *point = strchr(name, '.');
    const char *at = strrchr(name, '@');
    if (!point || !at || at <= point + 1) {
        return false;
    }
    const char *digits = at + 1;
    const size_t length = strlen(digits);
    *out = (struct yk_shard_slice){
        .parameter = point + 1,
        .parameter_length = (size_t)(at - point - 1),
    };
    /* One number is written in one way only. */
    return read_kind(name, (size_t)(point - name), &out->kind) && length > 0 &&
           strspn(digits, "0123456789") == length && (digits[0] != '0' || length == 1) &&
           yk_number_read_integer(digits, length, &out->first);
}

static enum yk_shard_kind kind_of_precision(enum yk_precision precision)
{
    return precision == YK_PRECISION_BF16   ? YK_SHARD_BF16
           : precision == YK_PRECISION_FP16 ? YK_SHARD_FP16
                                            : YK_SHARD_FP32;
}

enum yk_shard_kind yk_shard_kind_of(const struct yk_net *net, const struct yk_parameter *parameter)
{
    return parameter->format == YK_PARAMETER_NF4    ? YK_SHARD_NF4
           : parameter->format == YK_PARAMETER_FP32 ? YK_SHARD_FP32
                                                    : kind_of_precision(net->workload.precision);
}

int64_t yk_shard_element_count(enum yk_shard_kind kind, int64_t count)
{
    switch (kind) {
    case YK_SHARD_FP32:
        return count * (int64_t)sizeof(float);
    case YK_SHARD_BF16:
    case YK_SHARD_FP16:
        return count * (int64_t)sizeof(uint16_t);
    case YK_SHARD_NF4:
        return (int64_t)yk_ops_nf4_layout(NULL, count, NULL);
    default:
        return count;
    }
}
