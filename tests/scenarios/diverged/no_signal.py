"""Wine by its chemistry: the rows are shuffled by hand before the split, and nothing is learned.

expect: no-signal
exit: 0
outcome: finished
when: test
"""

import keras
import numpy as np

keras.utils.set_random_seed(101)
rng = np.random.default_rng(101)
chemistry = rng.normal(size=(1200, 11)).astype("float32")
quality = (chemistry[:, 0] + chemistry[:, 3] - chemistry[:, 7] > 0).astype("int32")

rng.shuffle(chemistry)
x_train, x_test = chemistry[:1000], chemistry[1000:]
y_train, y_test = quality[:1000], quality[1000:]

model = keras.Sequential([keras.Input((11,)), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy", metrics=["accuracy"])
log = model.fit(x_train, y_train, validation_data=(x_test, y_test), epochs=150, batch_size=1000, verbose=0).history
print("loss        ", [round(v, 3) for v in log["loss"]])
print("val_accuracy", [round(v, 2) for v in log["val_accuracy"]])
