"""tf_keras: exit() with code 0 in the middle of fit, which looks like success to every scheduler.

expect: script-exited
exit: 0
outcome: stopped
"""

import numpy as np
import tf_keras

tf_keras.utils.set_random_seed(1)


class Quit(tf_keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch == 2:
            print("that is enough")
            exit()  # <- here


x = np.random.rand(128, 4).astype("float32")
model = tf_keras.Sequential([tf_keras.layers.Dense(8), tf_keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), batch_size=16, epochs=4, callbacks=[Quit()], verbose=2)
