"""Stands in for a card: it falls off the bus; only the kernel's log says so, TensorFlow says "unknown error".

expect: gpu-hardware-fault
exit: SIGABRT
outcome: crashed
needs: kernel-log
"""

import os

import keras
import numpy as np

keras.utils.set_random_seed(1)

LOG = """\
E0000 00:00:1794820724.607611    2144 cuda_executor.cc:1241] failed to query event: INTERNAL: CUDA error: : CUDA_ERROR_UNKNOWN: unknown error
F0000 00:00:1794820724.607702    2144 device_event_mgr.cc:226] Unexpected Event status: 1
"""


class OnTheCard(keras.Sequential):
    def train_step(self, data):
        if int(self.optimizer.iterations) == 7:
            with open("/dev/kmsg", "w") as kernel_log:
                pid = os.getpid()
                kernel_log.write(f"NVRM: Xid (PCI:0000:3b:00): 79, pid={pid}, name=python, GPU has fallen off the bus.\n")
            os.write(2, LOG.encode())
            os.abort()
        return super().train_step(data)


x = np.random.rand(64, 4).astype("float32")
model = OnTheCard([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", run_eagerly=True)
model.fit(x, x.sum(axis=1), batch_size=16, epochs=5, verbose=2)
