"""A filter after repeat() lets nothing through any more: the pipeline is busy and no batch comes.

expect: input-blocked
exit: SIGTERM
outcome: stopped
stall: yes
seconds: 900
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)
x = np.random.rand(6000, 8).astype("float32")
quality = np.linspace(1.0, 0.0, 6000).astype("float32")
threshold = tf.Variable(0.2)

dataset = (
    tf.data.Dataset.from_tensor_slices((x, quality))
    .repeat()
    .filter(lambda features, grade: grade >= threshold)  # <- here
    .map(lambda features, grade: (features, tf.reduce_sum(features)))
    .batch(8)
)


class Curriculum(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        threshold.assign_add(0.3)


model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, steps_per_epoch=400, epochs=10, callbacks=[Curriculum()], verbose=2)
