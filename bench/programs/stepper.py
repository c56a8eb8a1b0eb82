"""Say its pid, then step for ever, announcing each completed step on the given descriptor: stepper.py FD."""

from __future__ import annotations

import os
import struct
import sys

import laststep

if __name__ == "__main__":
    announce = int(sys.argv[1])
    os.write(1, f"{os.getpid()}\n".encode())
    number = 0
    while True:
        number += 1
        laststep.step(loss=number)
        os.write(announce, struct.pack("<Q", number))
