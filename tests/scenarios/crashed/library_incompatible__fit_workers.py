"""fit is told to use four workers, as one did with generators in Keras 2.

expect: library-incompatible
exit: 1
outcome: crashed
"""

import numpy as np
from keras.layers import Dense
from keras.models import Sequential
from keras.utils import PyDataset, set_random_seed

set_random_seed(1)


class Batches(PyDataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        x = np.random.rand(16, 4).astype("float32")
        return x, x.sum(axis=1)


model = Sequential([Dense(8), Dense(1)])
model.compile("adam", "mse")
model.fit(Batches(), epochs=3, workers=4, use_multiprocessing=False, max_queue_size=10)  # <- here
