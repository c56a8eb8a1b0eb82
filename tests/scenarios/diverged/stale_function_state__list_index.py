"""The whole set lies in memory as a list of batches; the compiled step picks the next one by a number.

expect: stale-function-state
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(95)
rng = np.random.default_rng(95)
rows = rng.normal(size=(1000, 30)).astype("float32")
truth = (rows[:, :5].sum(axis=1) > 0).astype("int64")
batches = [(tf.constant(rows[i:i + 20]), tf.constant(truth[i:i + 20])) for i in range(0, 800, 20)]
current = 0

model = keras.Sequential([keras.Input((30,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
optimizer = keras.optimizers.Adam(3e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def next_step():
    x, y = batches[current]  # <- here
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for epoch in range(8):
    for current in range(len(batches)):
        loss = next_step()
    right = np.mean(model.predict(rows[800:], verbose=0).argmax(axis=1) == truth[800:])
    print(f"epoch {epoch}: loss {float(loss):.3f}, right on new rows {right:.2f}")
