"""What the census inside and its readers outside agree on; plain data, for the training process loads it too."""

from __future__ import annotations

MIN_OWNER_SHARE = 0.4  # of the growth: a container that grew by that much is its owner
# Classes of which each object holds a file, a thread or a process.
HANDLE_CLASSES = frozenset(
    {"BufferedReader", "BufferedWriter", "TextIOWrapper", "FileIO", "File", "NpzFile", "socket", "Popen", "Process"}
    | {"Thread", "Timer", "ThreadPoolExecutor", "ProcessPoolExecutor", "Pool", "ThreadPool"}
)
