"""A hand-written loop over a dataset of which each element takes longer to make than the step.

expect: input-starved
exit: 0
outcome: finished
"""

import json

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(17)
rng = np.random.default_rng(0)
with open("events.jsonl", "w") as file:
    for _ in range(3000):
        file.write(json.dumps({"values": rng.random(220).tolist(), "target": rng.random()}) + "\n")


def events():
    with open("events.jsonl") as file:
        for line in file:
            event = json.loads(line)
            values = sorted(round(value, 6) for value in event["values"])
            quantiles = [values[int(q * (len(values) - 1))] for q in np.linspace(0, 1, 16)]
            spread = sum((a - b) ** 2 for a in values[::8] for b in values[::4]) / 1000
            yield np.array([*quantiles, spread], "float32"), np.float32(event["target"])


signature = (tf.TensorSpec((17,), tf.float32), tf.TensorSpec((), tf.float32))
dataset = tf.data.Dataset.from_generator(events, output_signature=signature).batch(16)
model = keras.Sequential([keras.Input((17,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True)[:, 0] - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(8):
    for x, y in dataset:
        loss = train_step(x, y)
    print(f"epoch {epoch} loss {float(loss):.4f}", flush=True)
