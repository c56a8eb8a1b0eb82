"""At the end of the third epoch a callback packs the weights with gzip and waits; gzip waits for the end of its input.

expect: callback-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import subprocess

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(5)


class PackWeights(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % 3:
            return
        with open(f"weights-{epoch + 1:03d}.gz", "wb") as packed:
            gzip = subprocess.Popen(["gzip", "-c"], stdin=subprocess.PIPE, stdout=packed)
            for weight in self.model.get_weights():
                gzip.stdin.write(weight.tobytes())
            gzip.stdin.flush()
            gzip.wait()  # <- here


images = np.random.rand(1200, 14, 14, 1).astype("float32")
labels = np.random.randint(0, 10, 1200)
train = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(1200).batch(16)

model = keras.Sequential(
    [
        keras.layers.Conv2D(8, 3, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(10, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train, epochs=12, callbacks=[PackWeights(), keras.callbacks.CSVLogger("log.csv")], verbose=2)
