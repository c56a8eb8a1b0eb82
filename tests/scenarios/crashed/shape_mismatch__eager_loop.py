"""Linear algebra by hand: the weights are transposed.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import tensorflow as tf

tf.random.set_seed(0)


class MLP(tf.Module):
    def __init__(self, n_in, n_hidden, n_out):
        super().__init__()
        self.w1 = tf.Variable(tf.random.normal((n_in, n_hidden), stddev=0.1))
        self.b1 = tf.Variable(tf.zeros(n_hidden))
        self.w2 = tf.Variable(tf.random.normal((n_out, n_hidden), stddev=0.1))

    def __call__(self, x):
        hidden = tf.nn.relu(tf.matmul(x, self.w1) + self.b1)
        return tf.matmul(hidden, self.w2)  # <- here


x = tf.random.normal((64, 4))
y = tf.reduce_sum(x, axis=1, keepdims=True)
net = MLP(4, 16, 1)
lr = 0.05

for step in range(20):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x) - y) ** 2)
    for variable, grad in zip(net.trainable_variables, tape.gradient(loss, net.trainable_variables)):
        variable.assign_sub(lr * grad)
    print(step, float(loss))
