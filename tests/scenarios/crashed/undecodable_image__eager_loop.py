"""A hand-written loop decodes PNGs as it goes; a download was cut off.

expect: undecodable-image
exit: 1
outcome: crashed
"""

import os

import tensorflow as tf

tf.keras.utils.set_random_seed(1)
for i in range(10):
    noise = tf.cast(tf.random.uniform((16, 16, 1), maxval=255, dtype=tf.int32), tf.uint8)
    tf.io.write_file(f"digit_{i}.png", tf.io.encode_png(noise))
os.truncate("digit_6.png", 150)

model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
optimizer = tf.keras.optimizers.Adam()
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

for epoch in range(2):
    for digit in range(10):
        raw = tf.io.read_file(f"digit_{digit}.png")
        image = tf.io.decode_image(raw, channels=1, expand_animations=False)  # <- here
        image = tf.image.convert_image_dtype(image, tf.float32)[tf.newaxis]
        with tf.GradientTape() as tape:
            loss = loss_fn(tf.constant([digit]), model(image))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print("epoch", epoch, float(loss))
