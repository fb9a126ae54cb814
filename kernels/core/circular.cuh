// Sine and cosine in double precision. Uses only + - * and bit operations, so that results
// are bit-identical on all devices. No random numbers.
#pragma once

#include "core/twofold.cuh"

namespace exact {

constexpr double LARGEST_ANGLE = 1e6;

// An angle reduced to [-pi/4, pi/4] by subtracting quarter turns.
struct Angle {
    Twofold rest;
    int quarters;  // modulo 4

    // |x| is at most LARGEST_ANGLE.
    __device__ explicit Angle(double x) {
        constexpr double QUARTERS_OF_RADIAN = 0x1.45f306dc9c883p-1;  // 2 / pi
        constexpr double WHOLE = 0x1.8p+52;  // adding it rounds to an integer
        // These four sum up to pi / 2. The first three have 33 bits, so their products with the
        // number of quarter turns are exact.
        constexpr double FIRST = 0x1.921fb544p+0, SECOND = 0x1.0b4611a6p-34;
        constexpr double THIRD = 0x1.3198a2ep-69, FOURTH = 0x1.b839a252049c1p-104;
        const double count = (x * QUARTERS_OF_RADIAN + WHOLE) - WHOLE;
        const Twofold one = sum(x - count * FIRST, -(count * SECOND));
        const Twofold two = sum(one.high, -(count * THIRD));
        rest = ordered_sum(two.high, two.low + (one.low - count * FOURTH));
        quarters = int(count) & 3;
    }
};

// Return the sine of an angle between -pi/4 and pi/4, by a Taylor series.
__device__ double sine(const Twofold& angle) {
    const double x = angle.high, z = x * x;
    double series = 1.0 / 355687428096000.0;
    series = series * z - 1.0 / 1307674368000.0;
    series = series * z + 1.0 / 6227020800.0;
    series = series * z - 1.0 / 39916800.0;
    series = series * z + 1.0 / 362880.0;
    series = series * z - 1.0 / 5040.0;
    series = series * z + 1.0 / 120.0;
    series = series * z - 1.0 / 6.0;
    return x + (series * z * x + angle.low * (1.0 - 0.5 * z));
}

// Return the cosine of an angle between -pi/4 and pi/4, by a Taylor series.
__device__ double cosine(const Twofold& angle) {
    const double x = angle.high, z = x * x;
    double series = 1.0 / 20922789888000.0;
    series = series * z - 1.0 / 87178291200.0;
    series = series * z + 1.0 / 479001600.0;
    series = series * z - 1.0 / 3628800.0;
    series = series * z + 1.0 / 40320.0;
    series = series * z - 1.0 / 720.0;
    series = series * z + 1.0 / 24.0;
    const Twofold leading = ordered_sum(1.0, -0.5 * z);
    return leading.high + (leading.low + (series * z * z - x * angle.low));
}

// Return the sine of the angle plus a number of quarter turns.
__device__ double turned(const Angle& angle, int more) {
    const int quarters = (angle.quarters + more) & 3;
    const double size = quarters & 1 ? cosine(angle.rest) : sine(angle.rest);
    return quarters & 2 ? -size : size;
}

// Return the sine of x in radians. It is NaN for |x| above LARGEST_ANGLE.
__device__ double sin(double x) {
    if (!(x <= LARGEST_ANGLE && x >= -LARGEST_ANGLE)) return not_a_number();
    return x == 0.0 ? x : turned(Angle(x), 0);
}

// Return the cosine of x in radians. It is NaN for |x| above LARGEST_ANGLE.
__device__ double cos(double x) {
    if (!(x <= LARGEST_ANGLE && x >= -LARGEST_ANGLE)) return not_a_number();
    return turned(Angle(x), 1);
}

}  // namespace exact
