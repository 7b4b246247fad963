#include "base/throughput_unit.h"

const struct yk_throughput_unit yk_throughput_unit_token = {
    .singular = "token",
    .plural = "tokens",
    .speed = "tokens/s",
    .speed_member = "tokens_per_s",
    .sample = "sample",
};

const struct yk_throughput_unit yk_throughput_unit_image = {
    .singular = "image",
    .plural = "images",
    .speed = "images/s",
    .speed_member = "images_per_s",
    .sample = "image",
};
