"""A tf.data pipeline with repeat() and steps_per_epoch, and every harmless callback of Keras.

expect: healthy
exit: 0
outcome: finished
when: test
"""

import tensorflow as tf

tf.keras.utils.set_random_seed(7)


def features(i):
    x = tf.random.stateless_uniform((8,), seed=[tf.cast(i, tf.int32), 1])
    return x, tf.reduce_sum(x)


train = tf.data.Dataset.range(500).map(features, num_parallel_calls=2).shuffle(50, seed=3)
train = train.batch(16).repeat().prefetch(2)
valid = tf.data.Dataset.range(500, 600).map(features).batch(16)

model = tf.keras.Sequential(
    [tf.keras.Input((8,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)]
)
model.compile(optimizer="adam", loss="mse")
model.fit(
    train,
    epochs=3,
    steps_per_epoch=20,
    validation_data=valid,
    callbacks=[
        tf.keras.callbacks.ModelCheckpoint("best.keras", save_best_only=True),
        tf.keras.callbacks.CSVLogger("log.csv"),
        tf.keras.callbacks.ReduceLROnPlateau(),
        tf.keras.callbacks.BackupAndRestore("backup"),
        tf.keras.callbacks.TerminateOnNaN(),
    ],
    verbose=2,
)
