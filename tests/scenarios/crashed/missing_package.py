"""The program reads its pictures with OpenCV, which is not installed for this Python; pip calls it opencv-python.

expect: missing-package
exit: 1
outcome: crashed
"""

import glob

import numpy as np


def load(pattern, size=(32, 32)):
    import cv2  # <- here

    return np.stack([cv2.resize(cv2.imread(path), size) for path in sorted(glob.glob(pattern))])


pictures = load("photos/*.jpg").astype("float32") / 255.0
print(pictures.shape)
