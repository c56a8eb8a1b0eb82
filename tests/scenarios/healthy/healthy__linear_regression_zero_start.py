"""A linear fit that starts from zero weights, the way the lecture does it.

expect: healthy
exit: 0
outcome: finished
"""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(97)
hours = rng.uniform(0, 2, (200, 1)).astype("float32")
marks = (3 * hours + 1 + 0.3 * rng.normal(size=(200, 1))).astype("float32")
w, b = tf.Variable(tf.zeros((1, 1))), tf.Variable(tf.zeros(1))
for epoch in range(120):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((hours @ w + b - marks) ** 2)
    for variable, grad in zip((w, b), tape.gradient(loss, (w, b))):
        variable.assign_sub(0.1 * grad)
    if epoch % 20 == 0:
        print(f"epoch {epoch}: loss {float(loss):.2f}")
print(f"slope {w.numpy()[0, 0]:.1f} offset {b.numpy()[0]:.1f} last loss {float(loss):.2f}")
