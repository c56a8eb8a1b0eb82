"""tf_keras: a Sequence whose file of one batch is gone from the table.

expect: generator-raised
exit: 1
outcome: crashed
"""

import numpy as np
import tf_keras

tf_keras.utils.set_random_seed(1)


class Chunks(tf_keras.utils.Sequence):
    def __init__(self, table, order):
        self.table, self.order = table, order

    def __len__(self):
        return len(self.order)

    def __getitem__(self, idx):
        chunk = self.table[self.order[idx]]  # <- here
        return chunk[:, :-1], chunk[:, -1]


table = {f"chunk-{n:02d}": np.random.rand(16, 5).astype("float32") for n in range(10)}
order = [f"chunk-{n:02d}" for n in range(12)]
model = tf_keras.Sequential([tf_keras.layers.Dense(8, activation="relu"), tf_keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
try:
    model.fit(Chunks(table, order), epochs=2, shuffle=False, verbose=2)
finally:
    model.save("last.h5", save_format="h5")
