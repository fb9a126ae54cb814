"""The solutions of `islands.mixed`: values of named parameters, encoded as a vector."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.errors import UsageError
from islands.problems.capabilities import Layout
from islands.problems.solution_kinds import VectorKind, array_module
from islands.space.parameters import Parameter, plain, restored
from islands.text import shown, unknown


class MixedKind(VectorKind):
    """Values of named parameters, each encoded as some coordinates of a vector.

    The entries of a solution are the numbers of all values, one after another.
    """

    name, made_by = "mixed", "mixed"
    words = "an allowed value for each parameter"
    picture = "The value of each parameter."

    def __init__(
        self, size: int, *_: ArrayLike, parameters: Mapping[str, Parameter | Mapping[str, Any]]
    ) -> None:
        """Describe solutions of `size` entries; `parameters` may be those stored in `options`."""
        self.parameters = {
            name: parameter if isinstance(parameter, Parameter) else restored(parameter)
            for name, parameter in parameters.items()
        }
        counts = [parameter.count for parameter in self.parameters.values()]
        bounds = np.array([parameter.bounds for parameter in self.parameters.values()])
        super().__init__(size, *bounds.repeat(counts, axis=0).T.copy())
        ends = np.cumsum(counts)
        self._places = [slice(end - n, end) for end, n in zip(ends, counts, strict=True)]

    @property
    def encoded_as(self) -> str:
        return VectorKind.name

    @property
    def options(self) -> dict[str, Any]:
        stored = {
            name: {"kind": parameter.kind, **parameter.stored()}
            for name, parameter in self.parameters.items()
        }
        return {"parameters": stored}

    @property
    def layout(self) -> Layout:
        return Layout(to_device=self._coordinates, from_device=self._entries)

    def _entries(self, coordinates: Any) -> Any:
        """Return the entries of vectors, a single one or one per row, on the same device."""
        module = array_module(coordinates)
        entries = module.empty_like(coordinates)
        for parameter, place in self._with_places():
            entries[..., place] = parameter.entries(coordinates[..., place], module)
        return entries

    def _coordinates(self, solutions: NDArray[Any]) -> NDArray[Any]:
        """Return vectors for solutions, a single one or one per row."""
        vectors = np.empty(np.shape(solutions))
        for parameter, place in self._with_places():
            vectors[..., place] = parameter.coordinates(solutions[..., place])
        return vectors

    def _with_places(self) -> Iterator[tuple[Parameter, slice]]:
        return zip(self.parameters.values(), self._places, strict=True)

    def holds(self, solutions: NDArray[Any]) -> bool:
        return all(parameter.holds(solutions[:, place]) for parameter, place in self._with_places())

    def encoded(self, solutions: NDArray[Any]) -> NDArray[Any]:
        return super().encoded(self._coordinates(solutions))

    def read(self, stored: Any) -> Any:
        return self._entries(super().read(stored))

    def extremes(self) -> list[ArrayLike]:
        return list(self.read(np.stack([np.zeros(self.size), np.ones(self.size)])))

    def presented(self, solutions: Any) -> Any:
        """Return a dict of the values of one solution, or of a column of values per parameter."""
        return {
            name: (parameter.value if solutions.ndim == 1 else parameter.column)(
                solutions[..., place]
            )
            for name, (parameter, place) in zip(self.parameters, self._with_places(), strict=True)
        }

    def array_of(self, solution: Any) -> NDArray[Any]:
        """Return the entries of a dict; reject one with other names or values."""
        if not isinstance(solution, Mapping):
            return np.asarray(solution)
        for name in solution:
            if name not in self.parameters:
                raise UsageError(unknown("parameter", str(name), self.parameters))
        entries = [self._entries_of(name, solution) for name in self.parameters]
        return np.concatenate(entries)

    def _entries_of(self, name: str, solution: Mapping[str, Any]) -> NDArray[Any]:
        parameter = self.parameters[name]
        if name not in solution:
            raise UsageError(f"the solution has no {name}. Pass {parameter.words()}")
        try:
            entries = parameter.entries_of(solution[name])
            if parameter.holds(entries[np.newaxis]):
                return entries
        except (TypeError, ValueError):
            pass
        raise UsageError(f"{name}={shown(solution[name])}: must be {parameter.words()}")

    def lines(self, solution: NDArray[Any]) -> list[str]:
        lines = []
        for name, (parameter, place) in zip(self.parameters, self._with_places(), strict=True):
            numbers = parameter.column(solution[np.newaxis, place]).reshape(-1).tolist()
            lines += [f"# {name}", *map(str, numbers)]
        return lines

    @staticmethod
    def listed(solution: Any) -> Any:
        """Return the values by name; a subset becomes the list of its chosen items."""
        return {name: plain(value) for name, value in solution.items()}
