"""tf_keras: a CSV was read as text, and a table of strings goes into fit.

expect: dtype-mismatch
exit: 1
outcome: crashed
"""

import csv
import io

import numpy as np
import tf_keras

tf_keras.utils.set_random_seed(1)
text = "\n".join(f"{i % 7},{i % 5}.5,{i % 3},{i % 2}" for i in range(60))
rows = np.array(list(csv.reader(io.StringIO(text))))
X, y = rows[:, :3], rows[:, 3].astype("float32")

model = tf_keras.Sequential([tf_keras.layers.Dense(8, activation="relu"), tf_keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(X, y, epochs=3, verbose=2)  # <- here
