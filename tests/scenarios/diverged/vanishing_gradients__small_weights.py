"""A stack of tanh convolutions over heartbeats with weights drawn around zero, in a loop written by hand.

expect: vanishing-gradients
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(33)
rng = np.random.default_rng(33)
beats = 0.4 * rng.normal(size=(800, 48, 1)).astype("float32")
arrhythmia = rng.integers(0, 2, 800)
beats[arrhythmia == 1, 20:30] += 1.0


class Encoder(keras.Model):
    def __init__(self, depth=9):
        super().__init__()
        start = keras.initializers.TruncatedNormal(stddev=0.02)
        self.convolutions = [
            keras.layers.Conv1D(16, 3, padding="same", activation="tanh", kernel_initializer=start)
            for _ in range(depth)
        ]
        self.pool = keras.layers.GlobalAveragePooling1D()
        self.head = keras.layers.Dense(2)

    def call(self, x):
        for convolution in self.convolutions:
            x = convolution(x)
        return self.head(self.pool(x))


model = Encoder()
optimizer = keras.optimizers.SGD(0.05, momentum=0.9)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
accuracy = keras.metrics.SparseCategoricalAccuracy()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = loss_fn(y, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    accuracy.update_state(y, logits)
    return loss


data = tf.data.Dataset.from_tensor_slices((beats, arrhythmia)).shuffle(800, seed=2).batch(32)
for epoch in range(6):
    accuracy.reset_state()
    losses = [float(train_step(x, y)) for x, y in data]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f} accuracy {float(accuracy.result()):.3f}")
