"""The very first batch raises: Keras looks at it before training, so the error comes out as it is.

expect: generator-raised
exit: 1
outcome: crashed
"""

import json

import keras
import numpy as np

keras.utils.set_random_seed(1)

with open("events.jsonl", "w") as f:
    for i in range(40):
        f.write(json.dumps({"duration": i % 9, "clicks": i % 4, "bought": i % 2}) + "\n")


def read_events(path, batch_size=8):
    batch = []
    with open(path) as f:
        for line in f:
            event = json.loads(line)
            batch.append((event["duration"], event["clicks"], event["label"]))  # <- here
            if len(batch) == batch_size:
                data = np.array(batch, dtype="float32")
                yield data[:, :2], data[:, 2]
                batch = []


model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(read_events("events.jsonl"), epochs=1, verbose=2)
