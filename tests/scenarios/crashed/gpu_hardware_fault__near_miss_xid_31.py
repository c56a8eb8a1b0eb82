"""Stands in for a card: Xid 31 is a page fault of the program's own kernel, not of the hardware.

expect: cuda-kernel-failed
exit: SIGABRT
outcome: crashed
needs: kernel-log
"""

import os

import keras
import numpy as np

keras.utils.set_random_seed(1)

LOG = """\
E0000 00:00:1794820724.607611    2144 cuda_executor.cc:1241] failed to query event: INTERNAL: CUDA error: : CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered
F0000 00:00:1794820724.607702    2144 device_event_mgr.cc:226] Unexpected Event status: 1
"""


class OnTheCard(keras.Sequential):
    def train_step(self, data):
        if int(self.optimizer.iterations) == 7:
            with open("/dev/kmsg", "w") as kernel_log:
                kernel_log.write(
                    f"NVRM: Xid (PCI:0000:18:00): 31, pid={os.getpid()}, name=python, Ch 00000039, intr 00000000. MMU "
                    "Fault: ENGINE GRAPHICS GPCCLIENT_T1_3 faulted @ 0x7f75_7bd4f000. Fault is of type FAULT_PDE "
                    "ACCESS_TYPE_VIRT_WRITE\n"
                )
            os.write(2, LOG.encode())
            os.abort()  # <- here
        return super().train_step(data)


x = np.random.rand(64, 4).astype("float32")
model = OnTheCard([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", run_eagerly=True)
model.fit(x, x.sum(axis=1), batch_size=16, epochs=5, verbose=2)
