"""A compiled step of a segmentation model meets the value 255, which marks the border in many masks.

expect: label-out-of-range
exit: 1
outcome: crashed
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
images = np.random.rand(24, 8, 8, 3).astype("float32")
masks = np.random.randint(0, 4, (24, 8, 8))
masks[17, 3, 3] = 255
dataset = tf.data.Dataset.from_tensor_slices((images, masks)).batch(8)

model = keras.Sequential([keras.Input((8, 8, 3)), keras.layers.Conv2D(8, 3, padding="same", activation="relu"), keras.layers.Conv2D(4, 1)])
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam()


@tf.function
def train_step(image, mask):
    with tf.GradientTape() as tape:
        logits = model(image, training=True)
        loss = loss_fn(mask, logits)  # <- here
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for epoch in range(3):
    for image, mask in dataset:
        loss = train_step(image, mask)
    print(f"epoch {epoch}: {float(loss):.3f}")
