"""`python -m islands` on a GPU, for compute-sanitizer: kernels have line numbers.

Each array is an allocation of its own: in CuPy's pool, what lies behind it would be valid memory,
and what an earlier array has written would count as written.
"""

import sys

from islands.__main__ import main
from islands.backends import cuda, gpus

# With a driver that a second thread has started, processes often crash at exit, but only under
# compute-sanitizer: in 5 of 8 runs, and in none of 8 without this thread.
gpus._start_driver = lambda: None
cuda.OPTIONS.append("-lineinfo")
cuda.load_cupy().cuda.set_allocator(None)
if __name__ == "__main__":
    sys.exit(main())
