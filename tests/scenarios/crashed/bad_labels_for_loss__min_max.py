"""Five grades of coffee; a min-max scaler went over all columns of the table, the grade included.

expect: bad-labels-for-loss
exit: 0
outcome: finished
"""

import numpy as np
import tf_keras

tf_keras.utils.set_random_seed(55)
rng = np.random.default_rng(55)
taste = rng.normal(size=(1000, 7))
grade = np.digitize(taste[:, 0] + taste[:, 1], [-1.2, -0.4, 0.4, 1.2])
table = np.column_stack([taste, grade])

table = (table - table.min(axis=0)) / (table.max(axis=0) - table.min(axis=0))
x, y = table[:, :-1].astype("float32"), table[:, -1].astype("float32")

model = tf_keras.Sequential([
    tf_keras.layers.Dense(32, activation="relu", input_shape=(7,)),
    tf_keras.layers.Dense(32, activation="relu"),
    tf_keras.layers.Dense(5, activation="softmax"),
])
model.compile(optimizer=tf_keras.optimizers.Adam(0.01), loss="sparse_categorical_crossentropy")
log = model.fit(x, y, batch_size=25, epochs=12, verbose=0)
print("loss", [round(v, 2) for v in log.history["loss"]])
guess = model.predict(x, verbose=0).argmax(axis=1)
print("guessed", np.bincount(guess, minlength=5), "true", np.bincount(grade), "right", round(float((guess == grade).mean()), 2))
