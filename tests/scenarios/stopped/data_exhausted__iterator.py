"""tf_keras: one iterator over the dataset is made once and given to two fits; the second finds little left in it.

expect: data-exhausted
exit: 0
outcome: stopped
"""

import tensorflow as tf
import tf_keras as keras

keras.utils.set_random_seed(3)


def make_dataset(n_batches):
    ds = tf.data.Dataset.range(n_batches * 8)
    ds = ds.map(lambda i: (tf.random.stateless_normal((6,), seed=[1, tf.cast(i, tf.int32)]), tf.cast(i % 2, tf.float32)))
    return ds.batch(8)


train_iter = iter(make_dataset(30))  # <- here

model = keras.Sequential([keras.layers.Dense(12, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")

print("stage 1: warm-up")
model.fit(train_iter, steps_per_epoch=10, epochs=2, verbose=2)
print("stage 2: fine-tuning")
model.optimizer.learning_rate.assign(1e-4)
history = model.fit(train_iter, steps_per_epoch=10, epochs=3, verbose=0)
print("fine-tuned for", len(history.epoch), "epochs")
