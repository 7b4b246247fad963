/*
 * Python: the parts of the generated Python files that the exporters for DDP and FSDP share. The
 * parts are: constants from the plan, a sampler that gives each rank its share of the batch, loss
 * weights that correct the gradient for unequal shares, and the training step.
 */
#ifndef YK_EXPORT_PYTHON_H
#define YK_EXPORT_PYTHON_H

#include "export/export_job.h"

/* The files of export/python/, which the build embeds (tools/embed.cmake). They use constants
 * and imports, which the exporters write before them. */
extern const char yk_python_shared_py[];
extern const char yk_python_ddp_py[];
extern const char yk_python_fsdp_py[];

/* Adds the beginning of the file: comments, `imports` (lines of Python), and the constants RANKS,
 * BATCH, SHARES … */
void yk_python_add_file_head(const struct yk_export_job *job, const char *imports);

/* Adds the Python function step(). `first`, `passes` and `clip` are lines of Python in its body:
 * `first` is the beginning; `passes` runs the forward and backward pass of one micro-batch (its
 * number is in the Python variable k, its loss weight in the variable weight); `clip` clips the
 * gradients. */
void yk_python_add_training_step_function(struct yk_text *out, const char *first,
                                          const char *passes, const char *clip);

/* Returns "torch.bfloat16" or "torch.float16", or NULL if the precision has 32 bits. */
const char *yk_python_torch_dtype_text(enum yk_precision precision);

/* Returns "True" or "False". */
const char *yk_python_bool_text(bool value);

/* Adds a Python list of strings: ["transformer.wte", "transformer.wpe"]. */
void yk_python_add_string_list(struct yk_text *out, const char *const *names, int32_t count);

/* Adds notes about what step() assumes and what the user must pass to it. */
void yk_python_add_training_step_notes(const struct yk_export_job *job);

#endif
