/* Noise: how far apart the times of one thing were while a survey was made. */
#ifndef YK_MEASURE_SURVEY_NOISE_H
#define YK_MEASURE_SURVEY_NOISE_H

#include "measure/survey/survey.h"

/*
 * The upper quartile of the spreads (half the distance between the quartiles, over the median) of
 * the survey's layers and links: three of four things varied less. What takes less than 50 us does
 * not count: there clocks and wake-ups vary on every machine, and no step is made of it. NAN where
 * nothing counts.
 */
double yk_survey_noise(const struct yk_survey *survey);

#endif
