"""A coordinator, a worker and a parameter server; the server with the variables is killed.

expect: peer-lost
exit: 1
outcome: crashed
"""

import subprocess
import sys
import time

import tensorflow as tf

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
def gradient():
    x = tf.random.normal((16, 4))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w - tf.reduce_sum(x, axis=1, keepdims=True)) ** 2)
    return tape.gradient(loss, w)


try:
    for step in range(50):
        pending = coordinator.schedule(gradient)
        coordinator.join()  # <- here
        w.assign_sub(0.05 * pending.fetch())
        if step % 5 == 0:
            print("step", step)
        if step == 12:
            others["ps"].kill()
            others["ps"].wait()
            time.sleep(1)
finally:
    others["worker"].kill()
