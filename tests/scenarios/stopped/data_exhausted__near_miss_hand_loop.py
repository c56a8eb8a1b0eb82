"""A hand-written loop around next(): StopIteration is how each epoch is meant to end.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import tensorflow as tf

keras.utils.set_random_seed(5)
x = tf.random.normal((128, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(16)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)


@tf.function
def train_step(iterator):
    xb, yb = iterator.get_next()
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(xb, training=True) - yb))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(3):
    iterator = iter(dataset)
    steps = 0
    while True:
        try:
            loss = train_step(iterator)
        except tf.errors.OutOfRangeError:
            break
        steps += 1
    print(f"epoch {epoch}: {steps} steps, loss {float(loss):.3f}")
