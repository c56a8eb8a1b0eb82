"""Distillation with a temperature that is lowered from 200 to 1, an attribute of the loss object given to compile.

expect: stale-function-state
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(96)
rng = np.random.default_rng(96)
x = rng.normal(size=(1200, 12)).astype("float32")
answer = x[:, :6].argmax(axis=1)
teacher_says = (8 * np.eye(6)[answer] + rng.normal(0, 0.5, (1200, 6))).astype("float32")


class Softened(keras.losses.Loss):
    def __init__(self):
        super().__init__()
        self.temperature = 200.0

    def call(self, teacher, student):
        wanted = tf.nn.softmax(teacher / self.temperature)  # <- here
        return tf.nn.softmax_cross_entropy_with_logits(labels=wanted, logits=student)


softened = Softened()
cool = keras.callbacks.LambdaCallback(
    on_epoch_end=lambda epoch, logs: setattr(softened, "temperature", max(1.0, softened.temperature / 4))
)
student = keras.Sequential([keras.Input((12,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(6)])
student.compile(optimizer=keras.optimizers.Adam(0.01), loss=softened)
log = student.fit(x, teacher_says, epochs=12, batch_size=40, callbacks=[cool], verbose=0)
print("loss", [round(v, 3) for v in log.history["loss"]], "temperature at the end", softened.temperature)
sure = keras.ops.softmax(student(x)).numpy().max(axis=1).mean()
print(f"how sure it is: {sure:.2f}")
