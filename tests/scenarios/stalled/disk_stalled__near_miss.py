"""The disk of the samples (FUSE) makes the training wait for five seconds in one read, then answers all.

expect: healthy
exit: 0
outcome: finished
needs: mounts
"""

import ctypes
import os
import random
import signal
import struct
import time

# The disk: one file of 8 MB under nas/, in a mount namespace of our own, served by a child.
libc = ctypes.CDLL(None)
SIZE, SLOW = 8 << 20, 3 << 20
os.makedirs("nas")
libc.unshare(0x20000)
libc.mount(None, b"/", None, 0x44000, None)
device = os.open("/dev/fuse", os.O_RDWR)
libc.mount(b"nas", b"nas", b"fuse.nas", 0, f"fd={device},rootmode=40000,user_id=0,group_id=0".encode())


def attributes(node):
    size, mode = (SIZE, 0o100644) if node == 2 else (0, 0o40755)
    return struct.pack("6Q10I", node, size, size // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def answer(code, node, body):
    if code == 26:  # INIT
        return struct.pack("4I2H2I2H8I", 7, 31, 65536, 1, 8, 8, 65536, 1, 16, *[0] * 9)
    if code == 1:  # LOOKUP
        return struct.pack("4Q2I", 2, 0, 60, 60, 0, 0) + attributes(2) if body == b"samples.bin\0" else None
    if code == 3:  # GETATTR
        return struct.pack("Q2I", 60, 0, 0) + attributes(node)
    if code == 14:  # OPEN
        return struct.pack("Q2I", 1, 0, 0)
    if code == 15:  # READ
        _, offset, size = struct.unpack_from("2QI", body)
        if offset <= SLOW < offset + size:
            time.sleep(5)
        return random.Random(offset).randbytes(min(size, SIZE - offset))
    return b"" if code in (18, 25) else None


def serve():
    libc.prctl(1, signal.SIGKILL)  # ends with the training
    while request := os.read(device, 1 << 18):
        _, code, number, node = struct.unpack_from("2I2Q", request)
        if code not in (2, 36, 42):  # FORGET, INTERRUPT, BATCH_FORGET: no answer wanted
            body = answer(code, node, request[40:])
            error, body = (-2, b"") if body is None else (0, body)
            os.write(device, struct.pack("IiQ", 16 + len(body), error, number) + body)


if os.fork() == 0:
    serve()
    os._exit(0)
os.close(device)

import keras
import numpy as np

keras.utils.set_random_seed(13)


def samples(path, batch=32, width=64):
    with open(path, "rb", buffering=0) as file:
        while raw := file.read(batch * width):
            x = np.frombuffer(raw, "uint8").reshape(batch, width) / 255
            yield x, x.mean(axis=1)


model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(samples("nas/samples.bin"), steps_per_epoch=1000, epochs=4, verbose=2)
