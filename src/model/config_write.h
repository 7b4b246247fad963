/*
 * Config writer: a config as the config.json that Hugging Face's transformers reads, in the keys
 * that its versions 4 and 5 share. yk_model_config_read() gives back an equal config, by the name
 * it is then read under. What the framework needs besides, it takes its own defaults for. Unknown
 * ids of tokens are written as null, so that it does not take its defaults for those; but for a
 * decoder's first token, which version 5 wants to be a number: that is left out.
 */
#ifndef YK_MODEL_CONFIG_WRITE_H
#define YK_MODEL_CONFIG_WRITE_H

#include "base/precision.h"
#include "base/status.h"
#include "base/text.h"
#include "model/config.h"

/* Adds the file to `out`; `dtype` is what the weights are kept in. A Mistral is written as the
 * Llama that it computes like. */
yk_status yk_model_config_write(const struct yk_model_config *config, enum yk_precision dtype,
                                struct yk_text *out) YK_MUST_USE;

#endif
