"""A mean teacher: the student learns, the teacher's weights only follow as a moving average.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(39)
x = np.random.normal(size=(2000, 10)).astype("float32")
y = (x[:, 0] * x[:, 1] > 0).astype("int64")
labelled = 400


def network():
    return keras.Sequential([keras.Input((10,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(2)])


student, teacher = network(), network()
teacher.set_weights(student.get_weights())
optimizer = keras.optimizers.Adam(3e-3)
crossentropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(known, label, unknown, weight):
    steady = tf.nn.softmax(teacher(unknown))
    with tf.GradientTape() as tape:
        wobbly = tf.nn.softmax(student(unknown + tf.random.normal(tf.shape(unknown), stddev=0.1), training=True))
        loss = crossentropy(label, student(known, training=True)) + weight * tf.reduce_mean((wobbly - steady) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, student.trainable_variables), student.trainable_variables))
    for slow, quick in zip(teacher.variables, student.variables):
        slow.assign(0.97 * slow + 0.03 * quick)
    return loss


rng = np.random.default_rng(0)
for epoch in range(8):
    losses = []
    for _ in range(40):
        known, unknown = rng.integers(0, labelled, 32), rng.integers(labelled, 2000, 64)
        losses.append(float(train_step(x[known], y[known], x[unknown], tf.constant(min(1.0, epoch / 4)))))
    right = (np.argmax(teacher(x[labelled:]), axis=1) == y[labelled:]).mean()
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.2f} teacher right {right:.2f}")
