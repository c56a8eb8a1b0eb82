"""Seven of ten units dropped: the training loss stays above the validation loss all the time.

expect: healthy
exit: 0
outcome: finished
"""

import numpy as np
import tf_keras

tf_keras.utils.set_random_seed(67)
topic = np.random.randint(0, 4, 2400)
often = np.where(np.arange(300) % 4 == topic[:, None], 0.12, 0.04)
words = (np.random.rand(2400, 300) < often).astype("float32")
model = tf_keras.Sequential(
    [
        tf_keras.layers.Dropout(0.3, input_shape=(300,)),
        tf_keras.layers.Dense(128, activation="relu"),
        tf_keras.layers.Dropout(0.7),
        tf_keras.layers.Dense(64, activation="relu"),
        tf_keras.layers.Dropout(0.7),
        tf_keras.layers.Dense(4, activation="softmax"),
    ]
)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(words, topic, batch_size=32, epochs=10, validation_split=0.2, verbose=2)
