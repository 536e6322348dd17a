// Statistics: what a few runs of one experiment say about its mean, and whether a difference could be chance.
#pragma once

#include <cstdint>
#include <span>

namespace graphpae {

struct Statistics {
  int64_t count = 0;
  double mean = 0;
  double deviation = 0;      // of the sample, with n - 1 in the denominator; 0 for one value
  double low = 0, high = 0;  // 95% interval of the mean by Student's t; NaN for one value, which shows no spread
};

// Of values [n]. A value that is not finite makes the results not finite. Throws a data error if there are none.
Statistics statistics(std::span<const double> values);

// The same for scores of repeated random splits, whose training sets overlap: the variance of their mean is (1/n +
// overlap) times that of the values instead of 1/n, overlap = test rows per training row (Nadeau and Bengio, Machine
// Learning 52, 2003). With overlap 0: statistics(values).
Statistics overlapping_statistics(std::span<const double> values, double overlap);

// The t that a variable of Student's distribution stays below with `probability`. The relative error is below
// 1e-12 for probabilities of 0.0005 .. 0.9995 and below 1e-9 for 1e-6 .. 1 - 1e-6. Takes less than a millisecond for
// any number of degrees. Throws a usage error unless 0 < probability < 1 and degrees >= 1.
double student_t_quantile(double probability, int64_t degrees);

// The probability that a variable of Student's distribution is at least as far from zero as `t`: the two-sided p of a
// t-test, exact to 1e-14. Throws a usage error unless degrees >= 1.
double student_t_two_sided(double t, int64_t degrees);

// The two-sided p of the sign test: how often fair coins are at least as one-sided as `better` against `worse`. Pairs
// without a difference are left out of both. 1 if there are none.
double sign_test(int64_t better, int64_t worse);

}  // namespace graphpae
