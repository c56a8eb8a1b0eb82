"""Two inputs meet in one number each; the branch with the picture was cut off for a test and stayed so.

expect: weights-not-updating
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(128)
rng = np.random.default_rng(128)
pictures = rng.normal(0, 1, (1000, 10, 10, 1)).astype("float32")
notes = rng.normal(size=(1000, 4)).astype("float32")
top_left, bottom_right = pictures[:, :5, :5, 0].mean(axis=(1, 2)), pictures[:, 5:, 5:, 0].mean(axis=(1, 2))
value = (8 * top_left - 8 * bottom_right + 0.1 * notes[:, 0]).astype("float32")


class TwoEyes(keras.Model):
    def __init__(self):
        super().__init__()
        self.picture = keras.Sequential([layers.Flatten(), layers.Dense(32, activation="relu"), layers.Dense(1)])
        self.note = layers.Dense(1)
        self.join = layers.Dense(1)

    def call(self, inputs):
        seen = tf.stop_gradient(self.picture(inputs["picture"]))  # <- here
        return self.join(tf.concat([seen, self.note(inputs["note"])], axis=1))


model = TwoEyes()
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse")
log = model.fit({"picture": pictures, "note": notes}, value, epochs=8, batch_size=40, verbose=0).history
print("loss", [round(v, 2) for v in log["loss"]], "variance", round(float(value.var()), 2))
