"""tf_keras: a callback waits for a plotting thread that gave up after an error and never frees the figure.

expect: callback-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import threading

import numpy as np
import tf_keras

tf_keras.utils.set_random_seed(5)


class LivePlot(tf_keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.points, self.figure = [], threading.Semaphore(1)

    def draw(self):
        low, high = min(self.points), max(self.points)
        try:
            bars = ["#" * int(20 * (p - low) / (high - low)) for p in self.points]
        except ZeroDivisionError:
            return print("nothing to plot")
        open("plot.txt", "w").write("\n".join(bars))
        self.figure.release()

    def on_epoch_end(self, epoch, logs=None):
        self.figure.acquire()  # <- here
        self.points.append(round(logs["loss"], 3))
        threading.Thread(target=self.draw).start()


x = np.random.rand(12_000, 8).astype("float32")
model = tf_keras.Sequential([tf_keras.layers.Dense(16, activation="relu"), tf_keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), batch_size=8, epochs=10, callbacks=[LivePlot()], verbose=2)
