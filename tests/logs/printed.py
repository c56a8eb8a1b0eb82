"""What programs print, made up here in the real formats, and how laststep reads it."""

from __future__ import annotations

import io

from laststep.analysis.finding import Diagnosis
from laststep.logs.read import ParsedLog, parse_log, run_from_log
from laststep.rules.diagnose import diagnose

ESC = "\x1b"
DATE = "2025-03-04 05:06:07.123456:"


def story(log: str | bytes) -> ParsedLog:
    return parse_log(io.BytesIO(log.encode() if isinstance(log, str) else log))


def answer(log: str | bytes, name: str = "train.log") -> Diagnosis:
    return diagnose(run_from_log(story(log), name))


def cause(log: str | bytes) -> str | None:
    """The rule whose finding stands first."""
    findings = answer(log).findings
    return findings[0].rule if findings else None


def texts(log: str | bytes) -> list[str]:
    """The lines as a person sees them."""
    return [line.text for line in story(log).lines]


def bar2(done: int, of: int | str, metrics: str = "loss: 0.5000", clock: str = "") -> str:
    """Keras 2's bar; with a clock it is the last one of its epoch."""
    filled = 30 * done // of if isinstance(of, int) else 0
    drawn = "=" * 30 if clock else "=" * max(0, filled - 1) + ">" + "." * (30 - max(1, filled))
    return f"{done:>{len(str(of))}}/{of} [{drawn}] - {clock or 'ETA: 6s'} - {metrics}"


def bar3(
    done: int, of: int | str, metrics: str = "loss: 0.5000", clock: str = "1s 30ms/step", escape: str = ESC
) -> str:
    """Keras 3's bar with its colours; `escape` is what is left of the escape character."""
    filled = 20 * done // of if isinstance(of, int) else 0
    seconds, per_step = clock.split(" ")
    bold, green, grey, off = (f"{escape}[{code}m" for code in (1, 32, 37, 0))
    count = f"{bold}{done}/{of}{off}"
    drawn = f"{green}{'━' * filled}{off}{grey}{'━' * (20 - filled)}{off}"
    return f"{count} {drawn} {bold}{seconds}{off} {per_step} - {metrics}"


def epochs(count: int, asked: int | None = None, first: int = 1, clock: str = "9s 90ms/step") -> str:
    """Whole epochs of Keras 2, each with its last bar."""
    numbers = range(first, first + count)
    return "".join(
        f"Epoch {number}/{asked or first + count - 1}\n{bar2(100, 100, f'loss: {1 / number:.4f}', clock)}\n"
        for number in numbers
    )


OPEN_EPOCH = f"Epoch 1/9\n{bar2(40, 100)}\n"
ONE_FIT = epochs(2)
TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "/home/anna/train.py", line 31, in <module>\n'
    "    main()\n"
    '  File "/home/anna/train.py", line 12, in main\n'
    '    rows = table["speed"]\n'
    "KeyError: 'speed'\n"
)
TENSORFLOW_STARTS = (
    "2025-03-04 05:06:07.123456: I tensorflow/core/platform/cpu_feature_guard.cc:210] This TensorFlow binary is "
    "optimized to use available CPU instructions in performance-critical operations.\n"
)
RAN_OUT_2 = (
    "WARNING:tensorflow:Your input ran out of data; interrupting training. Make sure that your dataset or generator "
    "can generate at least `steps_per_epoch * epochs` batches (in this case, {} batches). You may need to use the "
    "repeat() function when building your dataset.\n"
)
RAN_OUT_3 = (
    "/opt/venv/lib/python3.11/site-packages/keras/src/trainers/epoch_iterator.py:164: UserWarning: Your input ran out "
    "of data; interrupting training. Make sure that your dataset or generator can generate at least "
    "`steps_per_epoch * epochs` batches. You may need to use the `.repeat()` function when building your dataset.\n"
    "  self._interrupted_warning()\n"
)
IN_USER_CODE = (
    "Traceback (most recent call last):\n"
    '  File "/home/anna/train.py", line 40, in <module>\n'
    "    model.fit(data, epochs=3)\n"
    '  File "/opt/venv/lib/python3.10/site-packages/keras/utils/traceback_utils.py", line 70, in error_handler\n'
    "    raise e.with_traceback(filtered_tb) from None\n"
    '  File "/tmp/__autograph_generated_file1x2.py", line 15, in tf__train_function\n'
    "    retval_ = ag__.converted_call(ag__.ld(step_function), (ag__.ld(self),), None, fscope)\n"
    "ValueError: in user code:\n"
    "\n"
    '    File "/opt/venv/lib/python3.10/site-packages/keras/engine/training.py", line 1160, in train_function  *\n'
    "        return step_function(self, iterator)\n"
    '    File "/home/anna/losses.py", line 9, in margin  *\n'
    "        return tf.maximum(0.0, gap - far)\n"
    "\n"
    "    ValueError: Dimensions must be equal, but are 8 and 6 for '{{node margin/sub}} = Sub[T=DT_FLOAT](gap, far)' "
    "with input shapes: [?,8], [?,6].\n"
    "\n"
)
OUT_OF_GPU_MEMORY = (
    "Traceback (most recent call last):\n"
    '  File "/home/anna/train.py", line 40, in <module>\n'
    "    model.fit(data, epochs=3)\n"
    "tensorflow.python.framework.errors_impl.ResourceExhaustedError: Graph execution error:\n"
    "\n"
    "Detected at node 'wide/MatMul' defined at (most recent call last):\n"
    '    File "/home/anna/train.py", line 40, in <module>\n'
    "      model.fit(data, epochs=3)\n"
    "Node: 'wide/MatMul'\n"
    "OOM when allocating tensor with shape[512,4096,64] and type float on "
    "/job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc\n"
    "\t [[{{node wide/MatMul}}]]\n"
    "Hint: If you want to see a list of allocated tensors when OOM happens, add report_tensor_allocations_upon_oom "
    "to RunOptions for current allocation info. [Op:__inference_train_function_811]\n"
)

# Whole logs, one of each kind of end.
LOGS = {
    "healthy": TENSORFLOW_STARTS + ONE_FIT,
    "open": OPEN_EPOCH,
    "empty": "",
    "traceback": TENSORFLOW_STARTS + OPEN_EPOCH + TRACEBACK,
    "in user code": OPEN_EPOCH + IN_USER_CODE,
    "gpu memory": OPEN_EPOCH + OUT_OF_GPU_MEMORY,
    "killed": OPEN_EPOCH + "./job.sh: line 12: 24905 Killed                  python train.py\n",
    "segmentation fault": OPEN_EPOCH + "Segmentation fault (core dumped)\n",
    "check failed": OPEN_EPOCH + "2025-03-04 05:06:07.123456: F tensorflow/core/framework/tensor.cc:770] Check failed: "
    "dtype() == expected_dtype (1 vs. 9) float expected, got int64\nAborted (core dumped)\n",
    "time limit": OPEN_EPOCH
    + "slurmstepd: error: *** JOB 8812 ON gpu07 CANCELLED AT 2025-03-04T05:06:07 DUE TO TIME LIMIT ***\n",
    "memory": OPEN_EPOCH + "slurmstepd: error: Detected 1 oom_kill event in StepId=8812.batch. Some of the step tasks "
    "have been OOM Killed.\n",
    "ran out": f"Epoch 1/5\n{bar2(40, 100)}{RAN_OUT_2.format(500)}{bar2(100, 100, clock='3s 30ms/step')}\n",
    "nan": f"Epoch 1/1\n{bar2(100, 100, 'loss: nan - accuracy: 0.1000', '9s 90ms/step')}\n",
    "interrupted": OPEN_EPOCH + TRACEBACK.replace("KeyError: 'speed'", "KeyboardInterrupt"),
    "several runs": (TENSORFLOW_STARTS + epochs(1, 3) + TRACEBACK) * 3,
    "early stopping": epochs(4, 50) + "Epoch 4: early stopping\n",
    "missing file": "Traceback (most recent call last):\n"
    '  File "/home/anna/train.py", line 3, in <module>\n'
    '    table = open("data/wheels.csv")\n'
    "FileNotFoundError: [Errno 2] No such file or directory: 'data/wheels.csv'\n",
    "long words": OPEN_EPOCH + TRACEBACK.replace("'speed'", "'" + "x" * 2000 + "'"),
    "long lines": OPEN_EPOCH + TRACEBACK.replace("'speed'", "'" + "many words " * 300 + "'"),
    "long path": OPEN_EPOCH + TRACEBACK.replace("/home/anna/", "/home/" + "a-long-folder/" * 30),
}

# Frightening and harmless.
MESSAGES = {
    "oneDNN": f"{DATE} I tensorflow/core/util/port.cc:153] oneDNN custom operations are on. You may see slightly "
    "different numerical results.",
    "the processor": TENSORFLOW_STARTS.strip(),
    "NUMA": f"{DATE} I tensorflow/stream_executor/cuda/cuda_gpu_executor.cc:936] successful NUMA node read from SysFS "
    "had negative value (-1), but there must be at least one NUMA node, so returning NUMA node zero",
    "registered twice": "E0000 00:00:1741064767.123456    4411 cuda_dnn.cc:8310] Unable to register cuDNN factory: "
    "Attempting to register factory for plugin cuDNN when one has already been registered",
    "no driver": f"{DATE} I tensorflow/tsl/cuda/cudart_stub.cc:28] Could not find cuda drivers on your machine, "
    "GPU will not be used.",
    "no library": f"{DATE} W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic "
    "library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file: No such file or "
    "directory",
    "no device": f"{DATE} E tensorflow/stream_executor/cuda/cuda_driver.cc:271] failed call to cuInit: "
    "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
    "a newer card": f"{DATE} W tensorflow/core/common_runtime/gpu/gpu_device.cc:2431] TensorFlow was not built with "
    "CUDA kernel binaries compatible with compute capability 12.0. CUDA kernels will be jit-compiled from PTX, which "
    "could take 30 minutes or longer.",
    "TensorRT": f"{DATE} W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: Could not "
    "find TensorRT",
    "a large tensor": f"{DATE} W tensorflow/core/framework/cpu_allocator_impl.cc:80] Allocation of 614400000 exceeds "
    "10% of free system memory.",
    "another algorithm": f"{DATE} W tensorflow/core/common_runtime/bfc_allocator.cc:275] Allocator (GPU_0_bfc) ran out "
    "of memory trying to allocate 2.20GiB with freed_by_count=0. The caller indicates that this is not a failure, but "
    "may mean that there could be performance gains if more memory were available.",
    "the end of the data": f"{DATE} I tensorflow/core/framework/local_rendezvous.cc:405] Local rendezvous is aborting "
    "with status: OUT_OF_RANGE: End of sequence",
    "a generator's end": f"{DATE} W tensorflow/core/kernels/data/generator_dataset_op.cc:108] Error occurred when "
    "finalizing GeneratorDataset iterator: FAILED_PRECONDITION: Python interpreter state is not initialized.",
    "retracing": "WARNING:tensorflow:5 out of the last 5 calls to <function step at 0x7f0> triggered tf.function "
    "retracing. Tracing is expensive.",
    "a compiler": "ptxas warning : Registers are spilled to local memory in function 'fusion_3'",
    "a profiler": f"{DATE} E tensorflow/core/profiler/internal/gpu/cupti_tracer.cc:1430] function cupti_interface_->"
    "Subscribe failed with error CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
    "old ways": "/home/anna/train.py:3: DeprecationWarning: `np.bool` is deprecated, and will be removed in a later "
    "version",
    "a picture": "Corrupt JPEG data: 2 extraneous bytes before marker 0xd9",
}
