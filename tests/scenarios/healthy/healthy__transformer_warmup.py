"""A small transformer that reverses sequences; its learning rate starts at zero and warms up.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
from keras import ops

keras.utils.set_random_seed(16)
tokens, length, width = 20, 10, 48
source = np.random.randint(0, tokens, (4000, length))
target = source[:, ::-1].copy()


class WarmUp(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, steps):
        self.peak, self.steps = peak, steps

    def __call__(self, step):
        step = ops.cast(step, "float32")
        return self.peak * ops.minimum(step / self.steps, ops.sqrt(self.steps / (step + 1.0)))

    def get_config(self):
        return {"peak": self.peak, "steps": self.steps}


class Positions(keras.layers.Layer):
    def build(self, shape):
        self.table = self.add_weight(shape=(length, width), initializer="uniform", name="table")

    def call(self, x):
        return x + self.table


inputs = keras.Input((length,), dtype="int32")
x = Positions()(keras.layers.Embedding(tokens, width)(inputs))
for _ in range(2):
    attended = keras.layers.MultiHeadAttention(4, width // 4)(x, x)
    x = keras.layers.LayerNormalization()(x + attended)
    wide = keras.layers.Dense(2 * width, activation="gelu")(x)
    x = keras.layers.LayerNormalization()(x + keras.layers.Dense(width)(wide))
model = keras.Model(inputs, keras.layers.Dense(tokens)(x))
model.compile(
    keras.optimizers.Adam(WarmUp(5e-3, 100.0), beta_2=0.98),
    keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(source, target, batch_size=50, epochs=4, verbose=2)
