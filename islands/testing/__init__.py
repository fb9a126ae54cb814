"""Contracts: what every part and every run has to satisfy, as classes of tests to inherit.

A class of a test file that derives from a contract and gives its few attributes has all of the
contract's tests, under pytest:

    import islands
    from islands.testing import RunContract

    class TestTours(RunContract):
        settings = {"algorithm": "eax", "islands": 2, "population": 12}

        def problem(self):
            return islands.tsp(cities)

The tests use the public interface only. Those that need a GPU, several ranks or a checkout of
islands skip with the reason where there is none.

`RunContract`, `ProblemContract` and the contracts of parts are public. `FakeWorld` has ranks as
threads of one process. May import every other folder; none imports this one.
"""

from islands.testing.parts import AlgorithmContract as AlgorithmContract
from islands.testing.parts import EncodingContract as EncodingContract
from islands.testing.parts import ImproverContract as ImproverContract
from islands.testing.parts import TopologyContract as TopologyContract
from islands.testing.problems import ProblemContract as ProblemContract
from islands.testing.runs import RunContract as RunContract
