"""No file matches, so no record comes; what is seen of it is a KeyError for the loss afterwards.

expect: dataset-empty
exit: 1
outcome: crashed
"""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
DATA_DIR = "data/train"


def parse(record):
    parsed = tf.io.parse_single_example(
        record, {"x": tf.io.FixedLenFeature([10], tf.float32), "y": tf.io.FixedLenFeature([], tf.int64)}
    )
    return parsed["x"], parsed["y"]


files = tf.io.gfile.glob(f"{DATA_DIR}/*.tfrecord")
train_ds = tf.data.TFRecordDataset(files).map(parse, num_parallel_calls=tf.data.AUTOTUNE).batch(32).prefetch(1)  # <- here

model = tf.keras.Sequential([tf.keras.Input((10,)), tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(2)])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(train_ds, epochs=3, verbose=2)
print("final loss:", history.history["loss"][-1])
