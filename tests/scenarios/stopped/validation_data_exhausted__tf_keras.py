"""tf_keras: after the first epoch the validation data is used up, and val_loss is gone.

expect: validation-data-exhausted
exit: 0
outcome: finished
"""

import numpy as np
import tensorflow as tf
import tf_keras as keras

keras.utils.set_random_seed(1)
x = np.random.rand(200, 4).astype("float32")
y = x.sum(axis=1)
valid = tf.data.Dataset.from_tensor_slices((x[160:], y[160:])).batch(10)

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
history = model.fit(x[:160], y[:160], batch_size=10, epochs=4, validation_data=valid, validation_steps=10, verbose=2)  # <- here
for name, values in history.history.items():
    print(name, [round(v, 2) for v in values])
