"""The islands of one rank: their arrays, programs and launches on a device."""
