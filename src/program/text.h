/* Program text: a program as a person reads it: for each rank its ops in order, a column for each
 * lane, with what each one waits for. */
#ifndef YK_PROGRAM_TEXT_H
#define YK_PROGRAM_TEXT_H

#include "base/text.h"
#include "program/program.h"

yk_status yk_program_text_write(const struct yk_program *program, struct yk_text *out) YK_MUST_USE;

#endif
