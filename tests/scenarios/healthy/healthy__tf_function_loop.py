"""A hand-written loop around a compiled step, with checkpoints.

expect: healthy
exit: 0
outcome: finished
when: test
"""

import keras
import tensorflow as tf

keras.utils.set_random_seed(7)
x = tf.random.normal((128, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(32).repeat(5)

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.01)
loss_fn = keras.losses.MeanSquaredError()
checkpoint = tf.train.Checkpoint(model=model)


@tf.function
def train_step(features, target):
    with tf.GradientTape() as tape:
        loss = loss_fn(target, model(features, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for step, (features, target) in enumerate(dataset):
    loss = train_step(features, target)
    if step % 5 == 0:
        print(f"step {step} loss {loss.numpy():.3f}")
        checkpoint.save("ckpt/model")
print("done")
