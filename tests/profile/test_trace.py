"""A trace: the spans that matter are found, on hosts and on devices, and damaged files are said to be so."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from laststep.profile import trace as traces
from laststep.profile.trace import ProfileTrace, read_trace
from laststep.record.run import DamagedRun
from tests.profile import made

H200 = Path(__file__).parent / "h200.xplane.pb.gz"  # JAX on an H200: XLA, in a CUDA graph


def host() -> made.Plane:
    plane = made.Plane("/host:CPU")
    allocation = {"allocation_bytes": 4096, "bytes_allocated": 9000, "tf_op": "net/dense/MatMul", "allocator_name": "a"}
    plane.line(
        "python",
        [
            ("EagerLocalExecute: __inference_step_7", 0, 100),
            ("KernelAndDeviceFunc::Run", 5, 90),
            ("EagerLocalExecute: Mul", 200, 30),
            ("KernelAndDeviceFunc::Run", 210, 10),
            ("EagerLocalExecute: MakeIterator", 300, 30),
            ("KernelAndDeviceFunc::Run", 310, 10),
        ],
    )
    plane.line(
        "tf_Compute/1",
        [
            ("ExecutorState::Process", 5, 80),
            ("StatefulPartitionedCall/net/dense/MatMul:_MklMatMul", 10, 40),
            ("MemoryAllocation", 12, 0, allocation),
            ("MemoryDeallocation", 13, 0, allocation),
            ("end: copy.1", 14, 3),
        ],
    )
    plane.line("tf_data_iterator_get_next/2", [("IteratorGetNextOp::DoCompute", 60, 20)])
    plane.line("tf_data_private_threadpool/3", [("PyFunc:PyFunc", 0, 55)])
    return plane


def read(content: bytes, folder: Path) -> ProfileTrace:
    path = folder / "vm.xplane.pb"
    path.write_bytes(content)
    return read_trace(path)


def test_a_host_s_spans(tmp_path):
    trace = read(made.space(host()), tmp_path)
    micro = 10**6
    assert trace.origin_ns == 10**18
    assert (10 * micro, 50 * micro, "StatefulPartitionedCall/net/dense/MatMul", "_MklMatMul", False) in [
        op[:5] for op in trace.ops
    ]
    assert {(op.kind, op.in_pipeline) for op in trace.ops} == {
        ("_MklMatMul", False),
        ("Mul", False),
        ("PyFunc", True),
        ("MakeIterator", True),
    }
    assert sorted(trace.waits) == [(60 * micro, 80 * micro), (310 * micro, 320 * micro)]
    assert trace.runs == [(5 * micro, 95 * micro), (210 * micro, 220 * micro), (310 * micro, 320 * micro)]
    assert [(taken.bytes, taken.op, taken.in_use) for taken in trace.memory] == [(4096, "net/dense/MatMul", 9000)]


def test_times_that_count_from_1970_are_the_same(tmp_path):
    plane = made.Plane("/host:CPU")
    plane.line("tf_Compute/1", [("a/b:MatMul", 7, 2)], start_ns=10**18 + 3000)
    trace = read(made.space(plane), tmp_path)
    assert trace.ops[0][:2] == (10 * 10**6, 12 * 10**6)


def test_a_device_s_streams(tmp_path):
    plane = made.Plane("/device:GPU:0")
    plane.line(
        "Stream #14(Compute)",
        [
            ("ampere_sgemm_128x64", 0, 10, {"tf_op": "net/dense/MatMul:MatMul"}),
            ("void eigen_kernel(int)", 20, 5, {}),
        ],
    )
    plane.line("XLA Ops", [("derived", 0, 10)])
    trace = read(made.space(plane, host()), tmp_path)
    assert trace.devices == ["/device:GPU:0"]
    assert [op[2:4] for op in trace.ops if op.on_device] == [
        ("net/dense/MatMul", "MatMul"),
        ("void eigen_kernel(int)", "void eigen_kernel"),
    ]


def test_a_real_trace_of_a_gpu(tmp_path):
    trace = read(gzip.decompress(H200.read_bytes()), tmp_path)
    assert trace.devices == ["/device:GPU:0"]
    assert trace.compiled
    on_device = [op for op in trace.ops if op.on_device]
    assert len(on_device) == 110  # ten steps of eleven kernels
    named = {op.name for op in on_device}
    assert "jit(step)/transpose(jvp(my_big))/select_n" in named
    assert any(
        name.startswith("sm90_xmma_gemm") for name in named
    )  # cuBLAS in a CUDA graph: for which op is not in the trace
    assert {taken.allocator for taken in trace.memory} == {"GPU_0_bfc"}


@pytest.mark.parametrize(
    "content", [b"", b"hello, I am no trace", b"\x00" * 1000, b"\xff" * 1000, made.space(), b"{}", b"\x0a\x00" * 500]
)
def test_what_is_no_trace_is_damaged(content, tmp_path):
    with pytest.raises(DamagedRun):
        read(content, tmp_path)


def test_a_link_a_folder_and_nothing_are_damaged(tmp_path):
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "folder").mkdir()
    for name in ("link", "folder", "nothing"):
        with pytest.raises(DamagedRun):
            read_trace(tmp_path / name)


def test_a_trace_cut_off_or_changed_anywhere_is_read_or_damaged(tmp_path):
    whole = made.space(host())
    chance = random.Random(5)
    for number in range(600):
        content = bytearray(whole[: chance.randrange(len(whole))] if number % 2 else whole)
        for _ in range(chance.randrange(4)):
            if content:
                content[chance.randrange(len(content))] = chance.randrange(256)
        try:
            read(bytes(content), tmp_path)
        except DamagedRun:
            pass


def test_more_than_can_be_read_is_cut_and_said(tmp_path, monkeypatch):
    monkeypatch.setattr(traces, "MAX_READ_EVENTS", 4)
    assert read(made.space(host()), tmp_path).cut


def test_too_large_a_file_says_who_opens_it(tmp_path, monkeypatch):
    monkeypatch.setattr(traces, "MAX_BYTES", 100)
    with pytest.raises(DamagedRun, match="TensorBoard"):
        read(made.space(host()), tmp_path)
