/* Same config: fails the test where two configs differ in more than their names. */
#ifndef YK_TESTS_SAME_CONFIG_H
#define YK_TESTS_SAME_CONFIG_H

#include "model/config.h"

void assert_same_config(const struct yk_model_config *a, const struct yk_model_config *b);

#endif
