"""tf_keras, in the style of old tutorials: input_shape=(1, 28, 28).

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
from tf_keras.layers import Conv2D, Dense, Flatten, MaxPooling2D
from tf_keras.models import Sequential

X = np.random.rand(40, 1, 28, 28).astype("float32")
Y = np.eye(10)[np.random.randint(0, 10, 40)]

model = Sequential()
model.add(Conv2D(32, (5, 5), input_shape=(1, 28, 28), activation="relu"))  # <- here
model.add(MaxPooling2D(pool_size=(2, 2)))
model.add(Flatten())
model.add(Dense(10, activation="softmax"))
model.compile(loss="categorical_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(X, Y, epochs=1, batch_size=10)
