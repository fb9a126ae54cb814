"""`python -m islands` on a GPU, for compute-sanitizer: kernels have line numbers.

Each array is an allocation of its own: in CuPy's pool, what lies behind it would be valid memory,
and what an earlier array has written would count as written.
"""

import sys

from islands.__main__ import main
from islands.backends import cuda

cuda.OPTIONS.append("-lineinfo")
cuda.load_cupy().cuda.set_allocator(None)
if __name__ == "__main__":
    sys.exit(main())
