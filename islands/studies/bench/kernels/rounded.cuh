// The rounded distance between two places, and the place of a city.

__device__ int length(double2 a, double2 b) {
    const double dx = a.x - b.x, dy = a.y - b.y;
    return int(sqrt(dx * dx + dy * dy) + 0.5);
}

__device__ double2 at(const Data& data, int city) {
    return reinterpret_cast<const double2*>(data.places)[city];
}
