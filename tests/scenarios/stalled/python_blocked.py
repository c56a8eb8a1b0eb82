"""The user's loop waits for an evaluation thread to say that it is done; that thread died.

expect: python-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import threading

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(11)
model = keras.Sequential([keras.Input((20,)), keras.layers.Dense(128, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(1e-3)
holdout = np.random.rand(600, 20).astype("float32")


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True)[:, 0] - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


class Evaluation:
    def __init__(self):
        self.done = threading.Event()
        self.scores = []

    def start(self):
        self.done.clear()
        threading.Thread(target=self.run, name="evaluation").start()

    def run(self):
        predicted = model(holdout[: 200 * (len(self.scores) + 1)])[:, 0]
        error = np.abs(predicted - holdout.sum(axis=1)[: 200 * (len(self.scores) + 1)])
        worst = np.sort(error)[-5 + len(self.scores) * 2]
        self.scores.append(float(worst) / (3 - len(self.scores)))
        if self.scores[-1] > 100:
            raise RuntimeError(f"the worst error is {self.scores[-1]:.1f}")
        self.done.set()


def main():
    evaluation = Evaluation()
    rng = np.random.default_rng(0)
    for epoch in range(10):
        for _ in range(700):
            x = rng.random((32, 20), dtype="float32")
            loss = train_step(x, x.sum(axis=1))
        evaluation.start()
        evaluation.done.wait()  # <- here
        print(f"epoch {epoch}: loss {float(loss):.4f} score {evaluation.scores[-1]:.3f}", flush=True)


if __name__ == "__main__":
    main()
