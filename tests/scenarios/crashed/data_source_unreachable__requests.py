"""Labels are asked of an annotation service with requests; its host name cannot be resolved.

expect: data-source-unreachable
exit: 1
outcome: crashed
"""

import keras
import numpy as np
import requests

keras.utils.set_random_seed(1)


class LabelledPages(keras.utils.PyDataset):
    def __len__(self):
        return 10

    def __getitem__(self, index):
        answer = requests.get("http://labels.invalid/api/pages", params={"page": index}, timeout=3)  # <- here
        answer.raise_for_status()
        rows = np.array(answer.json(), dtype="float32")
        return rows[:, :-1], rows[:, -1]


model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(LabelledPages(), epochs=3, verbose=2)
