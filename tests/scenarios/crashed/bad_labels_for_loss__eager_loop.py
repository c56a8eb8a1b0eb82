"""A loop by hand with CategoricalCrossentropy and class numbers.

expect: bad-labels-for-loss
exit: 1
outcome: crashed
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
x = np.random.rand(96, 10).astype("float32")
y = np.random.randint(0, 4, 96)
train_dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)

model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(4)])
optimizer = keras.optimizers.SGD(learning_rate=1e-2)
loss_fn = keras.losses.CategoricalCrossentropy(from_logits=True)

for epoch in range(2):
    print("Start of epoch %d" % (epoch,))
    for step, (x_batch_train, y_batch_train) in enumerate(train_dataset):
        with tf.GradientTape() as tape:
            logits = model(x_batch_train, training=True)
            loss_value = loss_fn(y_batch_train, logits)  # <- here
        grads = tape.gradient(loss_value, model.trainable_weights)
        optimizer.apply_gradients(zip(grads, model.trainable_weights))
    print("Training loss (for one batch): %.4f" % float(loss_value))
