"""A fit whose input is slow in one way, as it is or as `laststep tune` advises: pipelines.py CASE [changed]."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

case, changed = sys.argv[1], sys.argv[2:] == ["changed"]
AUTO = tf.data.AUTOTUNE
SECONDS = 8.0
parallel = AUTO if changed else None
rng = np.random.default_rng(5)
home = Path(tempfile.gettempdir()) / "laststep-bench-pipelines"
home.mkdir(exist_ok=True)


def examples(count: int, *shape: int) -> tf.data.Dataset:
    x = rng.random((count, *shape), dtype="float32")
    return tf.data.Dataset.from_tensor_slices((x, x.reshape(count, -1).mean(1)))


def waits(x, y):
    """Python that waits for something outside: a database, a remote file."""

    def load(row):
        time.sleep(0.003)
        return row

    row = tf.numpy_function(load, [x], tf.float32)
    row.set_shape(x.shape)
    return row, y


def computes(x, y):
    """Python that computes, under its lock: more threads bring nothing."""

    def work(row):
        return np.float32(sum(float(value) ** 0.5 for value in row.ravel()) + row)

    row = tf.numpy_function(work, [x], tf.float32)
    row.set_shape(x.shape)
    return row, y


def augments(x, y):
    x = tf.image.random_flip_left_right(tf.image.random_brightness(x, 0.2))
    return tf.image.random_crop(tf.image.resize(x, (80, 80)), (48, 48, 3)), y


def heavy(x, y):
    for _ in range(12):
        x = tf.tanh(tf.matmul(x, x, transpose_b=True) / 64.0)
    return x, y


def light(x, y):
    return (x - tf.reduce_min(x)) / (tf.reduce_max(x) - tf.reduce_min(x) + 1e-6), y


def pictures() -> list[str]:
    paths = [home / f"{number}.png" for number in range(160)]
    for path in paths:
        if not path.exists():
            path.write_bytes(tf.io.encode_png(rng.integers(0, 255, (160, 160, 3), dtype="uint8")).numpy())
    return [str(path) for path in paths]


def shards() -> list[str]:
    paths = [home / f"{number}.tfrecord.gz" for number in range(6)]
    for path in paths:
        if not path.exists():
            with tf.io.TFRecordWriter(str(path), "GZIP") as out:
                for _ in range(120):
                    out.write(tf.io.serialize_tensor(rng.random((96, 96)).astype("float32").round(2)).numpy())
    return [str(path) for path in paths]


def picture(path):
    image = tf.image.resize(tf.io.decode_png(tf.io.read_file(path), 3), (48, 48)) / 255.0
    return image, tf.reduce_mean(image)


def parsed(record):
    x = tf.ensure_shape(tf.io.parse_tensor(record, tf.float32), (96, 96))
    return x, tf.reduce_mean(x)


class Rows(keras.utils.PyDataset):
    def __init__(self, **more):
        super().__init__(**more)
        self.x = rng.random((40, 8, 16), dtype="float32")

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        time.sleep(0.012)
        return self.x[index], self.x[index].mean(1)


def data():
    if case == "python that waits":
        return examples(480, 16).map(waits, num_parallel_calls=parallel).batch(8)
    if case == "python that computes":
        return examples(480, 2000).map(computes, num_parallel_calls=parallel).batch(8)
    if case == "random pictures":
        return examples(320, 64, 64, 3).map(augments, num_parallel_calls=parallel).batch(16)
    if case == "random pictures, shuffled":
        made = examples(320, 64, 64, 3).shuffle(320).map(augments, num_parallel_calls=parallel)
        return made.batch(16).prefetch(2)
    if case == "a heavy map, every epoch":
        made = examples(240, 64, 64).map(heavy)
        return (made.cache() if changed else made).batch(8)
    if case == "pictures decoded, every epoch":
        made = tf.data.Dataset.from_tensor_slices(pictures()).map(picture, num_parallel_calls=AUTO)
        return (made.cache() if changed else made).batch(16)
    if case == "one row at a time":
        if changed:
            return examples(20_000, 16).batch(32).map(lambda *x: tf.vectorized_map(lambda e: light(*e), x))
        return examples(20_000, 16).map(light).batch(32)
    if case == "compressed shards":
        return tf.data.TFRecordDataset(shards(), "GZIP", num_parallel_reads=parallel).map(parsed).batch(16)
    if case == "shards one after the other":
        files = tf.data.Dataset.from_tensor_slices(shards())
        read = lambda path: tf.data.TFRecordDataset(path, "GZIP").map(parsed)  # noqa: E731
        return (files.interleave(read, num_parallel_calls=AUTO) if changed else files.flat_map(read)).batch(16)
    if case == "no prefetch":
        made = examples(480, 16).map(waits, num_parallel_calls=2).batch(4)
        options = tf.data.Options()
        options.experimental_optimization.inject_prefetch = False
        made = made.with_options(options)
        return made.prefetch(AUTO) if changed else made
    assert case == "a PyDataset that waits"
    return Rows(workers=2) if changed else Rows()


class Pace(keras.callbacks.Callback):
    """Whole epochs after the first, with the time between them."""

    def __init__(self):
        super().__init__()
        self.began, self.epochs, self.steps = 0.0, 0, 0

    def on_epoch_begin(self, epoch, logs=None):
        now = time.perf_counter()
        if epoch == 1:
            self.began, self.steps = now, 0
        elif epoch > 1:
            self.epochs, self.ended, self.counted = self.epochs + 1, now, self.steps
            self.model.stop_training = self.epochs >= 2 and now - self.began > SECONDS

    def on_train_batch_end(self, batch, logs=None):
        self.steps += 1


model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
pace = Pace()
model.fit(data(), epochs=1000, verbose=0, callbacks=[pace])
print(json.dumps({"seconds": (pace.ended - pace.began) / pace.counted}), flush=True)
os._exit(0)  # with Python in its pipeline, TensorFlow may hang at the interpreter's end
