"""Contracts: tests that every part and every run must pass, as classes to inherit.

Under pytest, a class that derives from a contract and sets its attributes runs all of its tests:

    import islands
    from islands.testing import RunContract

    class TestTours(RunContract):
        settings = {"algorithm": "eax", "islands": 2, "population": 12}

        def problem(self):
            return islands.tsp(cities)

The tests use the public interface only. Tests that need a GPU, several ranks or a checkout of
islands are skipped without them.

`RunContract`, `ProblemContract` and the contracts of parts are public. `FakeWorld` is a rank that
is a thread of the test process. May import every other folder; none imports this one.
"""

from islands.testing.parts import AlgorithmContract as AlgorithmContract
from islands.testing.parts import EncodingContract as EncodingContract
from islands.testing.parts import ImproverContract as ImproverContract
from islands.testing.parts import TopologyContract as TopologyContract
from islands.testing.problems import ProblemContract as ProblemContract
from islands.testing.runs import RunContract as RunContract
