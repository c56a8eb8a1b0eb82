"""A hand-made network of tf.Module and matrices, with momentum written by hand.

expect: healthy
exit: 0
outcome: finished
"""

import numpy as np
import tensorflow as tf

tf.random.set_seed(91)
rng = np.random.default_rng(91)


class Layer(tf.Module):
    def __init__(self, size, out):
        super().__init__()
        self.w = tf.Variable((rng.normal(size=(size, out)) / np.sqrt(size)).astype("float32"))
        self.b = tf.Variable(tf.zeros(out))

    def __call__(self, x):
        return x @ self.w + self.b


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Layer(8, 32), Layer(32, 4)

    def __call__(self, x):
        return self.second(tf.nn.relu(self.first(x)))


net = Net()
speed = [tf.Variable(tf.zeros_like(variable)) for variable in net.trainable_variables]
x = rng.normal(size=(2000, 8)).astype("float32")
y = (2 * (x[:, 0] > 0) + (x[:, 1] > 0)).astype("int32")


@tf.function
def step(features, label):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=net(features)))
    for grad, variable, moving in zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables, speed):
        moving.assign(0.9 * moving + grad)
        variable.assign_sub(0.05 * moving)
    return loss


for epoch in range(5):
    losses = [float(step(x[i : i + 40], y[i : i + 40])) for i in range(0, 2000, 40)]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.2f}")
