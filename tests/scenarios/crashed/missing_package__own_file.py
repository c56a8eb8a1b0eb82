"""It does not come far: a module of the project's own is in another folder than the one it is started from.

expect: missing-package
exit: 1
outcome: crashed
"""

import numpy as np

from churn_features import encode  # <- here

rows = np.random.default_rng(1).random((64, 4)).astype("float32")
print(encode(rows).shape)
