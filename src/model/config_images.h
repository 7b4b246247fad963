/* Config of images: the keys of a config.json that describe images, patches and classes. */
#ifndef YK_MODEL_CONFIG_IMAGES_H
#define YK_MODEL_CONFIG_IMAGES_H

#include "base/json.h"
#include "base/json_write.h"
#include "model/config.h"

/* Reads the sizes of images and patches, and the names of the classes. Sets the number of
 * positions: one for the class token, and one for each patch. */
yk_status yk_config_images_read(const struct yk_json *json, struct yk_arena *arena,
                                struct yk_model_config *config) YK_MUST_USE;

void yk_config_images_write(const struct yk_model_config *config, struct yk_json_writer *json);

#endif
