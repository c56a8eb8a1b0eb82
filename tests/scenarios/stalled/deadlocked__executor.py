"""Augmentation runs in an executor of one thread, and a task there waits for a task that it gave to the same executor.

expect: deadlocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

from concurrent.futures import ThreadPoolExecutor

import keras
import numpy as np

keras.utils.set_random_seed(9)
executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="augment")
rng = np.random.default_rng(0)


def flip(image):
    return image[:, ::-1]


def augment(images, strong):
    if strong:
        halves = [executor.submit(flip, image) for image in images]
        images = np.stack([half.result() for half in halves])
    return images + rng.normal(0, 0.01, images.shape)


model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
for epoch in range(10):
    for step in range(60):
        images = rng.random((16, 12, 12), dtype="float32")
        augmented = executor.submit(augment, images, strong=epoch >= 3).result()  # <- here
        loss = model.train_on_batch(augmented, images.mean(axis=(1, 2)))
    print(f"epoch {epoch}: loss {float(loss):.4f}", flush=True)
