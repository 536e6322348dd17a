// Significance: could a difference be chance?
#pragma once

#include <cstdint>

namespace graphpae {

// P(|T| < t) of Student's distribution for t = sqrt(degrees) tan(angle), 0 <= angle <= pi / 2. Takes time in proportion
// to degrees >= 1.
double student_t_within(double angle, int64_t degrees);

// The probability that a variable of Student's distribution is at least as far from zero as `t`: the two-sided p of a
// t-test, exact to 1e-14. Throws a usage error unless degrees >= 1.
double student_t_two_sided(double t, int64_t degrees);

// The two-sided p of the sign test: how often fair coins are at least as one-sided as `better` against `worse`. Pairs
// without a difference are left out of both. 1 if there are none.
double sign_test(int64_t better, int64_t worse);

}  // namespace graphpae
