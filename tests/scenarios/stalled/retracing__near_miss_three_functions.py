"""Three compiled functions (train, evaluate, export), each traced once.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import tensorflow as tf

keras.utils.set_random_seed(19)
x = tf.random.normal((640, 8))
y = tf.reduce_sum(x, axis=1)
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.01)


@tf.function
def train_step(features, target):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(features, training=True)[:, 0] - target) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function
def evaluate(features, target):
    return tf.reduce_mean(tf.abs(model(features)[:, 0] - target))


@tf.function
def largest_weight():
    return tf.reduce_max([tf.reduce_max(tf.abs(variable)) for variable in model.trainable_variables])


for epoch in range(30):
    for features, target in tf.data.Dataset.from_tensor_slices((x, y)).batch(64):
        train_step(features, target)
    error, largest = evaluate(x, y), largest_weight()
print("error", round(float(error), 3), "largest weight", round(float(largest), 2))
