"""launch/bind: the GPU, cores and memory of a rank, and the messages if there are none."""

import subprocess
from pathlib import Path

import pytest
from fake_machine import Machine
from jobs import ran

UUIDS = ["GPU-aaaa-11111111", "GPU-aaab-22222222", "GPU-bbbb-33333333", "GPU-cccc-44444444"]
BUSES = ["00000000:18:00.0", "00000000:2A:00.0", "00000000:9A:00.0", "00010000:AB:00.0"]
PLACES = ["0000:18:00.0", "0000:2a:00.0", "0000:9a:00.0", "10000:ab:00.0"]
# Cores 0 to 3 and 4 to 7, and the second thread of each.
NODES = ["0-3,8-11", "4-7,12-15"]
NEAR = ["0,1,2,3,8,9,10,11", "4,5,6,7,12,13,14,15"]

RUN = "<an argument><>"


class BigMachine(Machine):
    """A machine with two NUMA nodes and its own /sys and /proc."""

    def __post_init__(self) -> None:
        super().__post_init__()
        script = self.checkout / "launch/bind"
        text = script.read_text()
        for name in ("sys", "proc"):
            assert f"\n{name}=/{name}\n" in text
            text = text.replace(f"\n{name}=/{name}\n", f"\n{name}='{self.folder}/{name}'\n")
        script.write_text(text)
        for node, cpus in enumerate(NODES):
            self.write(f"sys/devices/system/node/node{node}/cpulist", cpus)
        for cpu in range(16):
            threads = f"sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
            self.write(threads, f"{cpu % 8},{cpu % 8 + 8}")
        self.allow("0-15")
        self.copy("binder", "numactl")
        self.copy("binder", "taskset")
        self.copy("program", "program")

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")

    def allow(self, cpus: str, process: str = "self") -> None:
        self.write(f"proc/{process}/status", f"Name:\tsh\nCpus_allowed_list:\t{cpus}")

    def add_gpus(self, nodes: tuple[int, ...] = (0, 0, 1, 1)) -> None:
        rows = [f"{i}, {uuid}, {BUSES[i]}" for i, uuid in enumerate(UUIDS)]
        self.add("nvidia-smi", "\n".join(["#!/bin/sh", "cat <<END", *rows, "END", ""]))
        for place, node in zip(PLACES, nodes, strict=True):
            self.write(f"sys/bus/pci/devices/{place}/numa_node", str(node))

    def bind(self, rank: int = 0, size: int = 4, **more: str) -> list[str]:
        """Return the output of the program and the binders, then the messages."""
        place = {"MPI_LOCALRANKID": str(rank), "MPI_LOCALNRANKS": str(size)}
        done = self.start(**{**place, **more})
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert lines.pop() == RUN
        return [*lines, *done.stderr.splitlines()]

    def start(self, **variables: str) -> subprocess.CompletedProcess[str]:
        return self.run("launch/bind", "program", "an argument", "", **variables)


@pytest.fixture
def machine(tmp_path: Path) -> BigMachine:
    return BigMachine(tmp_path)


def test_each_rank_gets_a_gpu_with_close_cores_and_memory(machine: BigMachine) -> None:
    machine.add_gpus()
    for rank, node in enumerate((0, 0, 1, 1)):
        assert machine.bind(rank) == [
            f"numactl --all --physcpubind={NEAR[node]} --preferred={node}",
            f"GPU {rank} PCI_BUS_ID",
        ]


@pytest.mark.parametrize(
    ("visible", "rank", "gpu", "node"),
    [
        ("2,1", 0, "2", 1),
        ("2,1", 1, "1", 0),
        ("3", 2, "3", 1),  # one GPU per rank, as some launchers set it
        ("GPU-bbbb,GPU-aaab-22222222", 0, "GPU-bbbb", 1),
        ("GPU-bbbb, GPU-aaab-22222222", 1, "GPU-aaab-22222222", 0),
        ("0,3", 3, "3", 1),
        ("0,-1,3", 1, "0", 0),
    ],
)
def test_gpus_come_from_an_existing_list(
    machine: BigMachine, visible: str, rank: int, gpu: str, node: int
) -> None:
    machine.add_gpus()
    bound, program = machine.bind(rank, CUDA_VISIBLE_DEVICES=visible)
    assert bound.endswith(f"--physcpubind={NEAR[node]} --preferred={node}")
    assert program == f"GPU {gpu} in the given order"
    assert machine.bind(0, 2, CUDA_VISIBLE_DEVICES="")[-1] == "GPU  in the given order"


def test_a_gpu_without_a_known_node_leaves_the_rank_unbound(machine: BigMachine) -> None:
    machine.add_gpus((-1, -1, -1, -1))
    program, said = machine.bind(0)
    assert program == "GPU 0 PCI_BUS_ID"
    assert "ranks run unbound" in said
    # Only the first rank of a host prints the message.
    assert machine.bind(1) == ["GPU 1 PCI_BUS_ID"]
    assert machine.bind(1, CUDA_VISIBLE_DEVICES="MIG-1,MIG-2") == ["GPU MIG-2 in the given order"]


def test_only_the_cores_of_the_job_are_used(machine: BigMachine) -> None:
    machine.add_gpus()
    machine.allow("2-5")
    assert machine.bind(3)[0] == "numactl --all --physcpubind=4,5 --preferred=1"
    machine.allow("2-3")
    assert "NUMA node 1" in machine.bind(0, CUDA_VISIBLE_DEVICES="3")[-1]


def test_open_mpis_binding_is_replaced(machine: BigMachine, tmp_path: Path) -> None:
    """The daemon may use more cores than the one that it gives to a rank."""
    machine.add_gpus()
    machine.allow("0")
    # The parent of the script stands for the daemon: a shell that records its own process id.
    machine.add(
        "daemon",
        f"#!/bin/sh\nmkdir '{tmp_path}/proc/'$$\n"
        f"echo 'Cpus_allowed_list: 0-15' >'{tmp_path}/proc/'$$/status\n"
        f"'{machine.checkout}/launch/bind' program\nexit $?\n",
    )
    place = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_LOCAL_RANK": "3"}
    done = ran(machine.bin / "daemon", env={"PATH": str(machine.bin), **place}, check=True)
    assert done.stdout.startswith(f"numactl --all --physcpubind={NEAR[1]} --preferred=1\n")


@pytest.mark.parametrize("size", [1, 2, 3, 4, 8, 16])
def test_without_gpus_every_core_is_used_once(machine: BigMachine, size: int) -> None:
    shares = []
    for rank in range(size):
        (bound, _) = machine.bind(rank, size)
        shares.append([int(cpu) for cpu in bound.partition("bind=")[2].split(",")])
    assert sorted(cpu for share in shares for cpu in share) == list(range(16))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
    if size in (2, 4, 8):
        for share in shares:
            cores = {cpu % 8 for cpu in share}
            assert len(cores) == len(share) // 2, "no two ranks share a core"
            assert len({core // 4 for core in cores}) == 1, "no rank has cores of two nodes"


def test_more_ranks_than_cores_run_unbound(machine: BigMachine) -> None:
    machine.allow("0,1")
    program, said = machine.bind(0, 3)
    assert program.startswith("GPU any")
    assert "ranks run unbound: there is no core for each of the 3 ranks on this host" in said
    assert len(machine.bind(2, 3)) == 1


def test_taskset_replaces_a_missing_or_failing_numactl(machine: BigMachine) -> None:
    machine.add("numactl", "#!/bin/sh\nexit 1\n")
    assert machine.bind(1, 2)[0] == "taskset -c 4,12,5,13,6,14,7,15"
    (machine.bin / "numactl").unlink()
    assert machine.bind(1, 2)[0] == "taskset -c 4,12,5,13,6,14,7,15"
    (machine.bin / "taskset").unlink()
    assert "Install numactl" in machine.bind(0, 2)[-1]


@pytest.mark.parametrize(
    ("place", "gpu"),
    [
        ({"OMPI_COMM_WORLD_LOCAL_RANK": "1", "SLURM_LOCALID": "0"}, 1),
        ({"MV2_COMM_WORLD_LOCAL_RANK": "2"}, 2),
        ({"MPI_LOCALRANKID": "3", "SLURM_LOCALID": "0"}, 3),
        ({"PMI_LOCAL_RANK": "2"}, 2),
        ({"SLURM_LOCALID": "5"}, 1),
    ],
)
def test_the_local_rank_of_every_launcher(
    machine: BigMachine, place: dict[str, str], gpu: int
) -> None:
    machine.add_gpus()
    assert machine.start(**place).stdout.splitlines()[1] == f"GPU {gpu} PCI_BUS_ID"


@pytest.mark.parametrize(
    ("place", "begins"),
    [
        (("0", "2(x2),4", ""), "numactl --all --physcpubind=0,8,1,9,2,10,3,11\n"),
        (("1", "2(x2),4", ""), "numactl --all --physcpubind=0,8,1,9,2,10,3,11\n"),
        (("2", "2(x2),4", ""), "numactl --all --physcpubind=0,8,1,9\n"),
        (("1", "2,4,2", ""), "numactl --all --physcpubind=0,8,1,9\n"),
        (("0", "8", "quiet,none"), "numactl --all --physcpubind=0,8\n"),
        (("0", "2", "quiet,mask_cpu:0x00FF,0xFF00"), "GPU any"),  # Slurm has bound it
    ],
)
def test_the_tasks_of_a_node_of_slurm(
    machine: BigMachine, place: tuple[str, str, str], begins: str
) -> None:
    names = ("SLURM_NODEID", "SLURM_STEP_TASKS_PER_NODE", "SLURM_CPU_BIND")
    done = machine.start(SLURM_LOCALID="0", **dict(zip(names, place, strict=True)))
    assert done.stdout.startswith(begins), done.stderr


def test_wrong_usage_is_one_line_and_status_2_and_the_programs_status_is_kept(
    machine: BigMachine,
) -> None:
    words = {"MPI_LOCALRANKID": "one", "MPI_LOCALNRANKS": "2"}
    for arguments, place in (([], {}), (["-n", "4"], {}), (["program"], {}), (["program"], words)):
        failed = machine.run("launch/bind", *arguments, **place)
        assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (2, "", 1)
    machine.add("program", "#!/bin/sh\nexit 75\n")
    assert machine.start(MPI_LOCALRANKID="0", MPI_LOCALNRANKS="2").returncode == 75
