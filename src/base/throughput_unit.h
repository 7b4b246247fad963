/*
 * Throughput unit: what a model's samples are counted in, tokens or images, and the words for it in
 * texts and files. Who prints a count or a speed takes the words from here.
 */
#ifndef YK_BASE_THROUGHPUT_UNIT_H
#define YK_BASE_THROUGHPUT_UNIT_H

struct yk_throughput_unit {
    const char *singular;     /* "token" */
    const char *plural;       /* "tokens"; also the key of a count in JSON */
    const char *speed;        /* "tokens/s" */
    const char *speed_member; /* "tokens_per_s", the key of a speed in JSON and CSV */
    const char *sample;       /* what a batch consists of: "sample", or "image" */
};

extern const struct yk_throughput_unit yk_throughput_unit_token;
extern const struct yk_throughput_unit yk_throughput_unit_image;

#endif
