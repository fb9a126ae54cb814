"""The contract of a backend: arrays, programs and the order of launches."""

from typing import Any

import numpy as np
import pytest
from numpy_islands import philox

from islands.backends.base import Backend, Block, Call, CompiledProgram, Fork
from islands.backends.source import Header, Source
from islands.errors import CompileError

_TEXT = """\
#include "core/core.cuh"

struct Numbers {
    const int32_t* values;
    int64_t factor;
};

// Block b multiplies row b, of n entries.
KERNEL(multiply, (Numbers numbers, int32_t n, int64_t* products)) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        products[blockIdx.x * n + i] = numbers.factor * numbers.values[blockIdx.x * n + i];
    }
}

// Block b replaces each entry of row b by the sum of those before it.
KERNEL(sums_before, (int32_t n, uint32_t* value)) { block::scan(value + blockIdx.x * n, n); }

KERNEL(add_number, (uint32_t* value, uint32_t number)) {
    if (threadIdx.x == 0) value[blockIdx.x] += number;
}

KERNEL(double_all, (uint32_t* value)) {
    if (threadIdx.x == 0) value[blockIdx.x] *= 2;
}

KERNEL(random_words, (uint64_t seed, uint32_t* words)) {
    if (threadIdx.x != 0) return;
    const uint4 four = draw::Place(seed, 7, int64_t(blockIdx.x), 5).words(3, 2);
    words[4 * blockIdx.x] = four.x, words[4 * blockIdx.x + 1] = four.y;
    words[4 * blockIdx.x + 2] = four.z, words[4 * blockIdx.x + 3] = four.w;
}
"""


def source(text: str) -> Source:
    """Return a program of one text, which may include headers of `kernels/`."""
    return Source("contract.cuh", {"ISLANDS_CONTRACT": Header("contract.cuh", text)})


class BackendContract:
    """A backend: the same arrays, numbers and order of launches as every other one."""

    def backend(self) -> Backend:
        """Return the device."""
        raise NotImplementedError

    @pytest.fixture
    def device(self) -> Backend:
        """Return the device of a test."""
        return self.backend()

    @pytest.fixture
    def program(self, device: Backend) -> CompiledProgram:
        """Return the kernels of these tests."""
        return device.compile(source(_TEXT), Block(64))

    def test_arrays_are_copied_there_and_back(self, device: Backend) -> None:
        values = np.arange(15, dtype=np.int64).reshape(5, 3)
        array, other = device.upload(values), device.empty((5, 3), values.dtype)
        device.copy(array, other)
        device.upload(np.array([7, 8, 9]), other[2])
        device.fill(array, 4)
        values[2] = 7, 8, 9
        assert np.array_equal(device.download(other), values)
        assert (device.download(array) == 4).all()
        assert not device.download(device.zeros((6,), np.float32)).any()

    def test_host_arrays_are_copied_in_order(self, device: Backend) -> None:
        array = device.upload(np.arange(4, dtype=np.int64))
        host = device.host_array((4,), np.int64)
        device.fetch(array, host)
        device.fill(array, 0)
        device.synchronise()
        assert host.tolist() == [0, 1, 2, 3]
        device.store(host, array)
        assert device.download(array).tolist() == [0, 1, 2, 3]

    def test_a_word_is_set_and_read_at_once(self, device: Backend) -> None:
        words = device.zeros((3,), np.int32)
        device.synchronise()
        device.poke(words)
        assert device.peek(words).tolist() == [1, 0, 0]

    def test_kernels_take_structs_numbers_and_arrays(
        self, device: Backend, program: CompiledProgram
    ) -> None:
        values = np.random.default_rng(5).integers(-(2**30), 2**30, (5, 33), np.int32)
        numbers = device.uploaded({"values": values, "factor": np.int64(2**31 + 1)})
        products = device.zeros(values.shape, np.int64)
        arguments = (numbers, np.int32(33), products)
        device.run([device.call(program, "multiply", *arguments, blocks=5)])
        assert np.array_equal(device.download(products), values * np.int64(2**31 + 1))

    def test_threads_of_a_block_work_together(
        self, device: Backend, program: CompiledProgram
    ) -> None:
        values = np.random.default_rng(6).integers(0, 1 << 20, (3, 700), np.uint32)
        array = device.upload(values)
        device.run([device.call(program, "sums_before", np.int32(700), array, blocks=3)])
        expected = np.cumsum(values, axis=1, dtype=np.uint32) - values
        assert np.array_equal(device.download(array), expected)

    def test_random_numbers_are_those_of_philox(
        self, device: Backend, program: CompiledProgram
    ) -> None:
        seed, rows = 0x0123456789ABCDEF, 4
        words = device.zeros((rows, 4), np.uint32)
        device.run([device.call(program, "random_words", np.uint64(seed), words, blocks=rows)])
        counters = np.array([[2, 5, row, 3 << 24 | 7] for row in range(rows)], np.uint64)
        expected = philox(counters, seed).tolist()
        assert device.download(words).tolist() == expected

    @pytest.mark.parametrize("times", [1, 2, 5, 250])
    def test_launches_keep_their_order(
        self, device: Backend, program: CompiledProgram, times: int
    ) -> None:
        value = device.zeros((2,), np.uint32)
        add, twice = self.calls(device, program, value)
        device.run([add, twice], times)
        expected = 0
        for _ in range(times):
            expected = (expected + 1) * 2 & 0xFFFFFFFF
        assert device.download(value).tolist() == [expected] * 2

    def test_branches_and_forks_are_complete(
        self, device: Backend, program: CompiledProgram
    ) -> None:
        one, other = (device.zeros((1,), np.uint32) for _ in range(2))
        first, second = (self.calls(device, program, value) for value in (one, other))
        device.run_branches([(first, 1), (second, 2)], 3)
        device.run([Fork([first[:1], second[1:]]), first[0]])
        assert device.download(one).tolist() == [2 * (2 * (2 + 1) + 1) + 2]
        assert device.download(other).tolist() == [2 * sum(2**each for each in range(1, 7))]

    def test_marks_are_in_order(self, device: Backend, program: CompiledProgram) -> None:
        begin = device.mark()
        device.run(self.calls(device, program, device.zeros((1,), np.uint32)), 50)
        end = device.mark()
        device.wait_for(end)
        assert device.seconds_between(begin, end) > 0

    def test_a_fault_in_a_kernel_is_an_error(self, device: Backend) -> None:
        with pytest.raises(CompileError, match="nowhere"):
            device.compile(source(f"{_TEXT}\nKERNEL(bad, (int32_t* a)) {{ nowhere(a); }}"), Block())

    @staticmethod
    def calls(device: Backend, program: CompiledProgram, value: Any) -> list[Call]:
        """Return two launches: the first adds 1 to all entries, the second doubles them."""
        blocks = len(value)
        return [
            device.call(program, "add_number", value, np.uint32(1), blocks=blocks),
            device.call(program, "double_all", value, blocks=blocks),
        ]
