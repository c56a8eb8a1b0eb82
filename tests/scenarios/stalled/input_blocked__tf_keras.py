"""tf_keras: a generator reads from a loader process's pipe; the loader lives and sends nothing more.

expect: input-blocked
exit: SIGTERM
outcome: stopped
stall: yes
"""

import subprocess
import sys

import numpy as np
import tf_keras

LOADER = """
import sys
import numpy as np
for _ in range(150):
    sys.stdout.buffer.write(np.random.rand(16, 6).astype("float32").tobytes())
sys.stdout.buffer.flush()
sys.stdin.read()
"""

tf_keras.utils.set_random_seed(3)
loader = subprocess.Popen([sys.executable, "-c", LOADER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def batches():
    while True:
        raw = loader.stdout.read(16 * 6 * 4)  # <- here
        rows = np.frombuffer(raw, "float32").reshape(16, 6)
        yield rows[:, :5], rows[:, 5]


model = tf_keras.Sequential([tf_keras.layers.Dense(16, activation="relu"), tf_keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(batches(), steps_per_epoch=60, epochs=10, verbose=2)
