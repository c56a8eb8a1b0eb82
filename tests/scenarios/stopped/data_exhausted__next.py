"""A hand-written loop counts its steps and calls next() on an iterator that has fewer batches.

expect: data-exhausted
exit: 1
outcome: crashed
"""

import tensorflow as tf

tf.keras.utils.set_random_seed(5)

STEPS_PER_EPOCH = 12
x = tf.random.normal((256, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(256, seed=5).batch(16)

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(xb, training=True) - yb))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


iterator = iter(dataset)
for epoch in range(3):
    total = 0.0
    for _ in range(STEPS_PER_EPOCH):
        xb, yb = next(iterator)  # <- here
        total += float(train_step(xb, yb))
    print(f"epoch {epoch}: {total / STEPS_PER_EPOCH:.4f}")
