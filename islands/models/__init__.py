"""Ready models of common problems, built like user-defined ones.

Each file has one problem: a class with its data and its exact cost, the function that creates it, a
reader of the usual files, a picture, and possibly a record of numbers for other solvers. The CUDA
code of the cost and the search by moves is in `kernels/models`. Subclasses may change parts of it.

- `ReadyModel`: the base class of the problems.
- `Plain`: a record for other solvers.
- `NumberFile`: a file of numbers, for readers.

May import `modelling`, `problems` and the layers below them.
"""

from islands.models.colouring import GraphColouring as GraphColouring
from islands.models.colouring import graph_colouring as graph_colouring
from islands.models.covering import SetCover as SetCover
from islands.models.covering import set_cover as set_cover
from islands.models.cuts import MaxCut as MaxCut
from islands.models.cuts import max_cut as max_cut
from islands.models.diversity import MaxDiversity as MaxDiversity
from islands.models.diversity import max_diversity as max_diversity
from islands.models.flexible_shops import FlexibleJobShop as FlexibleJobShop
from islands.models.flow_shops import FlowShop as FlowShop
from islands.models.flow_shops import flow_shop as flow_shop
from islands.models.job_shops import JobShop as JobShop
from islands.models.job_shops import job_shop as job_shop
from islands.models.medians import PMedian as PMedian
from islands.models.medians import p_median as p_median
from islands.models.packing import BinPacking as BinPacking
from islands.models.packing import bin_packing as bin_packing
from islands.models.quadratic import Qubo as Qubo
from islands.models.quadratic import qubo as qubo
