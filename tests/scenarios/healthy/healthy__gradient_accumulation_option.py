"""The optimizer gathers gradients over eight batches and keeps an average of the weights.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(63)
x = np.random.normal(size=(3200, 6)).astype("float32")
y = (x[:, :3].sum(axis=1) > 0).astype("float32")
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.AdamW(
    1e-2, weight_decay=1e-4, gradient_accumulation_steps=8, use_ema=True, ema_momentum=0.9
)
model.compile(
    optimizer, keras.losses.BinaryCrossentropy(from_logits=True), metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)]
)
model.fit(x, y, batch_size=8, epochs=4, verbose=2)
