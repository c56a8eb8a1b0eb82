"""A coordinator, a worker and a parameter server; the server with the variables is killed.

expect: peer-lost
exit: 1
outcome: crashed
when: all
"""

import subprocess
import sys
import time

import tensorflow as tf

tf.config.threading.set_inter_op_parallelism_threads(1)
cluster = tf.train.ClusterSpec({"worker": ["localhost:28451"], "ps": ["localhost:28452"]})
if sys.argv[1:]:
    tf.distribute.Server(cluster, job_name=sys.argv[1], task_index=0, protocol="grpc").join()

others = {
    job: subprocess.Popen([sys.executable, __file__, job], stderr=subprocess.DEVNULL) for job in ("worker", "ps")
}
resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, rpc_layer="grpc")
strategy = tf.distribute.ParameterServerStrategy(resolver)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
with strategy.scope():
    w = tf.Variable(tf.zeros((4, 1)))


@tf.function
def train_step():
    x = tf.random.normal((16, 4))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w - tf.reduce_sum(x, axis=1, keepdims=True)) ** 2)
    w.assign_sub(0.05 * tape.gradient(loss, w))
    return loss


try:
    for epoch in range(20):
        losses = [coordinator.schedule(train_step) for _ in range(10)]
        coordinator.join()  # <- here
        print("epoch", epoch)
        if epoch == 2:
            others["ps"].kill()
            others["ps"].wait()
            time.sleep(1)
finally:
    others["worker"].kill()
