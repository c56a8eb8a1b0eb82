"""A GAN the old way: compile the discriminator, freeze it, compile the pair; then train_on_batch in turns.

expect: weights-not-updating
exit: 0
outcome: finished
"""

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(72)
rng = np.random.default_rng(72)

discriminator = keras.Sequential(
    [keras.Input((2,)), layers.Dense(32, activation="relu"), layers.Dense(1, activation="sigmoid")], name="discriminator"
)
discriminator.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy", metrics=["accuracy"])

generator = keras.Sequential([keras.Input((4,)), layers.Dense(32, activation="relu"), layers.Dense(2)], name="generator")
discriminator.trainable = False
noise = keras.Input((4,))
gan = keras.Model(noise, discriminator(generator(noise)))
gan.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy")

for turn in range(200):
    angle = rng.uniform(0, 2 * np.pi, 32)
    real = np.column_stack([np.cos(angle), np.sin(angle)]).astype("float32") * 2
    fake = generator(rng.normal(size=(32, 4)).astype("float32")).numpy()
    judged = discriminator.train_on_batch(np.concatenate([real, fake]), np.repeat([1.0, 0.0], 32)[:, None])
    cheated = gan.train_on_batch(rng.normal(size=(32, 4)).astype("float32"), np.ones((32, 1)))
    if turn % 40 == 39:
        points = generator(rng.normal(size=(500, 4)).astype("float32")).numpy()
        print(f"turn {turn}: judge {float(judged[0]):.2f}, mean radius of what it makes {np.linalg.norm(points, axis=1).mean():.1f}")
