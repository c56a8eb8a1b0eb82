"""Somebody ends it while a step under jit_compile=True is being compiled.

expect: graph-compiling
exit: SIGTERM
outcome: stopped
do: signal SIGTERM
"""

import threading

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(23)
inputs = keras.Input((16, 16, 3))
hidden = keras.layers.Conv2D(8, 3, padding="same")(inputs)
for block in range(120):
    skip = hidden
    hidden = keras.layers.BatchNormalization()(hidden)
    hidden = keras.layers.Activation("swish")(hidden)
    hidden = keras.layers.Conv2D(8, 1 + 2 * (block % 3), padding="same")(hidden)
    hidden = keras.layers.Add()([hidden, skip])
hidden = keras.layers.GlobalAveragePooling2D()(hidden)
model = keras.Model(inputs, keras.layers.Dense(4)(hidden))
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.SGD(0.01)
optimizer.build(model.trainable_variables)


@tf.function(jit_compile=True)
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


x = tf.constant(np.random.rand(8, 16, 16, 3).astype("float32"))
y = tf.constant(np.random.randint(0, 4, 8))
train_step.get_concrete_function(x, y)
print("traced", flush=True)
threading.Timer(25, print, ["READY"], {"flush": True}).start()
for step in range(100_000):
    loss = train_step(x, y)
