"""tf_keras: one-hot labels with the sparse loss, which shows as 320 labels for 32 samples.

expect: bad-labels-for-loss
exit: 1
outcome: crashed
"""

import numpy as np
import tf_keras
from tf_keras import layers

tf_keras.utils.set_random_seed(1)
x = np.random.rand(96, 12).astype("float32")
y = tf_keras.utils.to_categorical(np.random.randint(0, 10, 96))

model = tf_keras.Sequential([layers.Dense(16, activation="relu"), layers.Dense(10, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(x, y, batch_size=32, epochs=2, verbose=2)  # <- here
