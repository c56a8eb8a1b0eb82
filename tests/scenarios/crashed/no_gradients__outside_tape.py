"""A compiled step whose forward pass stands above the tape.

expect: no-gradients
exit: 1
outcome: crashed
"""

import tensorflow as tf

tf.keras.utils.set_random_seed(1)
x_train = tf.random.normal((128, 8))
y_train = tf.cast(tf.reduce_sum(x_train, axis=1) > 0, tf.int32)
train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).batch(32)

model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(2)])
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam()
train_loss = tf.keras.metrics.Mean(name="train_loss")


@tf.function
def train_step(features, labels):
    predictions = model(features, training=True)
    with tf.GradientTape() as tape:
        loss = loss_object(labels, predictions)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))  # <- here
    train_loss(loss)


for epoch in range(3):
    for features, labels in train_ds:
        train_step(features, labels)
    print(f"Epoch {epoch + 1}, Loss: {train_loss.result()}")
