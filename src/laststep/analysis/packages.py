"""Modules that cannot be imported: which package provides each, and for which Python it has to be installed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from laststep.analysis.finding import Remedy
from laststep.analysis.messages import failures
from laststep.analysis.old_names import words
from laststep.record.events.process import Raised, RecorderStart
from laststep.record.run import Run

MISSING = re.compile(
    r"ModuleNotFoundError: No module named '(?P<module>[\w.]+)'(?P<hidden>; '[\w.]+' is not a package)?"
)
# Import name → what pip calls it, where the two differ.
DISTRIBUTIONS: Mapping[str, str] = {
    "cv2": "opencv-python", "sklearn": "scikit-learn", "PIL": "pillow", "yaml": "PyYAML", "skimage": "scikit-image",
    "bs4": "beautifulsoup4", "dateutil": "python-dateutil", "dotenv": "python-dotenv", "attr": "attrs",
    "Crypto": "pycryptodome", "git": "GitPython", "serial": "pyserial", "MySQLdb": "mysqlclient", "fitz": "PyMuPDF",
    "faiss": "faiss-cpu", "umap": "umap-learn", "Bio": "biopython", "mpl_toolkits": "matplotlib", "jwt": "PyJWT",
    "zmq": "pyzmq", "psycopg2": "psycopg2-binary", "docx": "python-docx", "imblearn": "imbalanced-learn",
    "pywt": "PyWavelets", "magic": "python-magic", "tensorflow_datasets": "tensorflow-datasets",
    "tensorflow_hub": "tensorflow-hub", "tensorflow_text": "tensorflow-text", "tensorflow_io": "tensorflow-io",
    "tensorflow_probability": "tensorflow-probability", "tensorflow_addons": "tensorflow-addons",
    "tensorflow_model_optimization": "tensorflow-model-optimization", "tensorflow_federated": "tensorflow-federated",
    "keras_tuner": "keras-tuner", "kerastuner": "keras-tuner", "keras_cv": "keras-cv", "keras_hub": "keras-hub",
    "keras_nlp": "keras-nlp", "tf_slim": "tf-slim", "official": "tf-models-official", "pkg_resources": "setuptools",
    "distutils": "setuptools", "google.protobuf": "protobuf", "sentence_transformers": "sentence-transformers",
    "pytorch_lightning": "pytorch-lightning", "huggingface_hub": "huggingface-hub", "prometheus_client":
    "prometheus-client", "pycocotools": "pycocotools", "SimpleITK": "SimpleITK", "scikeras": "scikeras",
}  # fmt: skip
# Whose import name is the package's own.
SAME_NAME = words(
    "tensorflow keras tf_keras numpy pandas matplotlib scipy seaborn tqdm h5py jax flax optax torch torchvision "
    "transformers datasets tokenizers tensorboard tensorboardX wandb mlflow optuna ray horovod gym gymnasium librosa "
    "soundfile pydub nltk spacy gensim nibabel pydicom rasterio geopandas shapely albumentations imgaug imageio "
    "networkx sympy statsmodels xgboost lightgbm catboost pyarrow fastparquet openpyxl xlrd requests boto3 gcsfs s3fs "
    "fsspec pydot graphviz psutil tabulate rich click absl joblib dask numba cupy einops timm onnx tf2onnx "
    "tensorflowjs ijson ujson msgpack zarr lmdb pymongo redis sqlalchemy flask fastapi plotly bokeh streamlit "
    "tensorflow_decision_forests yfinance shap lime ipdb IPython ipywidgets notebook pytest hydra omegaconf fire"
)
OTHER_NAMES = {"absl": "absl-py", "hydra": "hydra-core", "IPython": "ipython"}
# Modules that Python itself does not have any more.
GONE_FROM_PYTHON = {"imp": "importlib", "asyncore": "asyncio", "asynchat": "asyncio", "cgi": "email.message"}


@dataclass(frozen=True)
class MissingModule:
    """A module that was to be imported and is not there."""

    event: Raised
    name: str
    is_hidden: bool = False  # something else of the first part's name, mostly a file of the program's own, was found

    @property
    def package(self) -> str:
        """What pip calls it; "" where that is not known, and it may be a file of the program's own."""
        first = self.name.partition(".")[0]
        if first in SAME_NAME:
            return OTHER_NAMES.get(first, first.replace("_", "-") if first != "tf_keras" else first)
        return DISTRIBUTIONS.get(self.name) or DISTRIBUTIONS.get(first, "")

    @property
    def is_part(self) -> bool:
        """Its package was found, and has no such part."""
        return "." in self.name


def missing_module(run: Run) -> MissingModule | None:
    """The module whose absence ended the training."""
    for event in failures(run):
        found = MISSING.search(f"{event.type}: {event.message}")
        if found is not None:
            return MissingModule(event, found["module"], bool(found["hidden"]))
    return None


def install(run: Run, package: str) -> str:
    """The command that installs it for the Python that ran the program."""
    started = run.last(RecorderStart)
    python = f"{shlex.quote(started.executable)} -m " if started is not None and started.executable else ""
    return f"{python}pip install {shlex.quote(package)}"


def missing_package(event: Raised) -> Remedy | None:
    """The package to install, where an optional one of TensorFlow or Keras is missing."""
    if not event.type.endswith("TBNotInstalledError"):
        return None
    return Remedy("Install TensorBoard: TensorFlow 2.21 and later do not include it", "pip install tensorboard")
