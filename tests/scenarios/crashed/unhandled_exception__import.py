"""It does not come far: a package is missing.

expect: unhandled-exception
exit: 1
outcome: crashed
"""

import json

import keras_contrib_of_2018  # <- here

print(json.dumps(keras_contrib_of_2018.__dict__))
