// Exponential function, logarithm and power in double precision. Uses only + - * / and bit
// operations, so that results are bit-identical on all devices. No random numbers.
#pragma once

#include "core/twofold.cuh"

namespace exact {

// ln(2) as a sum of two numbers. The first has 41 bits, so its product with the exponent of a
// number is exact.
constexpr double LN2 = 0x1.62e42fefa3p-1, REST_OF_LN2 = 0x1.3de6af278ece6p-42;

__device__ double infinity() { return __longlong_as_double(0x7ff0000000000000); }

// Return 2^power, which must be a normal number.
__device__ double power_of_two(int power) {
    return __longlong_as_double(int64_t(power + 1023) << 52);
}

// Return e^x. With x = k ln(2) + r and |r| <= ln(2) / 2, it is 2^k e^r; e^r is a Taylor series.
__device__ double exponential(const Twofold& x) {
    constexpr double LOG2_OF_E = 0x1.71547652b82fep+0;
    constexpr double WHOLE = 0x1.8p+52;  // adding it rounds to an integer
    constexpr double FARTHEST = 1000.0;  // the result is 0 or infinite beyond this
    if (!(x.high <= FARTHEST)) return x.high > FARTHEST ? infinity() : x.high;
    if (x.high < -FARTHEST) return 0.0;
    const double k = (x.high * LOG2_OF_E + WHOLE) - WHOLE;
    const double first = x.high - k * LN2, second = k * REST_OF_LN2 - x.low;
    const double r = first - second, rest = (first - r) - second;
    double series = 1.0 / 6227020800.0;
    series = series * r + 1.0 / 479001600.0;
    series = series * r + 1.0 / 39916800.0;
    series = series * r + 1.0 / 3628800.0;
    series = series * r + 1.0 / 362880.0;
    series = series * r + 1.0 / 40320.0;
    series = series * r + 1.0 / 5040.0;
    series = series * r + 1.0 / 720.0;
    series = series * r + 1.0 / 120.0;
    series = series * r + 1.0 / 24.0;
    series = series * r + 1.0 / 6.0;
    series = series * r + 0.5;
    const Twofold leading = ordered_sum(1.0, r);
    const double power = leading.high + (leading.low + (series * r * r + (rest + rest * r)));
    // In two steps, as 2^k alone may overflow or underflow.
    const int half = int(k) / 2;
    return power * power_of_two(half) * power_of_two(int(k) - half);
}

// Return ln(x) for a positive and finite x, accurate to about 2^-65. With x = 2^k m and
// s = (m - 1) / (m + 1), it is k ln(2) + 2 (s + s^3 / 3 + s^5 / 5 + ...).
__device__ Twofold logarithm(double x) {
    constexpr int64_t ROOT_OF_HALF = 0x3fe6a09e667f3bcd;  // the bits of the lowest m
    const bool is_subnormal = x < 0x1p-1022;
    const int64_t bits = __double_as_longlong(is_subnormal ? x * 0x1p+54 : x);
    const int64_t exponent = (bits - ROOT_OF_HALF) >> 52;
    const double m = __longlong_as_double(bits - exponent * (int64_t(1) << 52));
    const double k = double(exponent) - (is_subnormal ? 54.0 : 0.0);

    const Twofold below = sum(m, 1.0);
    const double s = (m - 1.0) / below.high;
    const Twofold covered = product(s, below.high);
    const double left = ((m - 1.0 - covered.high) - covered.low) - s * below.low;
    const Twofold quotient{s, left / below.high};
    const Twofold square = product(quotient, quotient);
    const double z = square.high;
    double series = 1.0 / 25.0;
    series = series * z + 1.0 / 23.0;
    series = series * z + 1.0 / 21.0;
    series = series * z + 1.0 / 19.0;
    series = series * z + 1.0 / 17.0;
    series = series * z + 1.0 / 15.0;
    series = series * z + 1.0 / 13.0;
    series = series * z + 1.0 / 11.0;
    series = series * z + 1.0 / 9.0;
    series = series * z + 1.0 / 7.0;
    series = series * z + 1.0 / 5.0;
    constexpr Twofold THIRD{0x1.5555555555555p-2, 0x1.5555555555555p-56};
    Twofold factor = ordered_sum(THIRD.high, series * z);
    factor.low += THIRD.low;
    const Twofold cubic = product(square, factor);
    factor = ordered_sum(1.0, cubic.high);
    factor.low += cubic.low;
    const Twofold log_of_m = product({2.0 * quotient.high, 2.0 * quotient.low}, factor);
    const Twofold both = ordered_sum(k * LN2, log_of_m.high);
    return ordered_sum(both.high, both.low + (log_of_m.low + k * REST_OF_LN2));
}

// Return e^x.
__device__ double exp(double x) { return exponential({x, 0.0}); }

// Return the natural logarithm of x: -infinity for 0, NaN for a negative x.
__device__ double log(double x) {
    if (!(x > 0.0)) return x == 0.0 ? -infinity() : not_a_number();
    if (x == infinity()) return x;
    return logarithm(x).high;
}

// Return x^y, with the special values of C's pow.
__device__ double pow(double x, double y) {
    if (y == 0.0 || x == 1.0) return 1.0;
    if (x != x || y != y) return x + y;
    const bool is_negative = __double_as_longlong(x) < 0;
    const double size = is_negative ? -x : x, farthest = 0x1p+64;
    const bool is_even = y >= 0x1p+53 || y <= -0x1p+53;  // all numbers of this size are even
    const bool is_whole = is_even || double(int64_t(y)) == y;
    const bool is_odd = !is_even && is_whole && int64_t(y) % 2 != 0;
    const double sign = is_negative && is_odd ? -1.0 : 1.0;
    if (size == 0.0 || size == infinity()) {
        return sign * ((size == 0.0) == (y < 0.0) ? infinity() : 0.0);
    }
    if (size == 1.0 && is_even) return 1.0;
    if (is_negative && !is_whole) return not_a_number();
    // Beyond this exponent, the result is 0 or infinite for every x except 1.
    const double within = y > farthest ? farthest : y < -farthest ? -farthest : y;
    return sign * exponential(product({within, 0.0}, logarithm(size)));
}

}  // namespace exact
