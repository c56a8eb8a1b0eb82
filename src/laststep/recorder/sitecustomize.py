"""Start the recorder in the launched program, then hand over to the user's own sitecustomize."""

# This file is read by whatever Python the user starts, old ones too: plain syntax only.
import os
import sys


def _laststep_start(here):
    folder = os.environ.pop("LASTSTEP_RECORD", None)
    side_seconds = os.environ.pop("LASTSTEP_PROBE", None)
    # The program and its children see the environment and the path that they would have had without us.
    before = os.environ.pop("LASTSTEP_PYTHONPATH", None)
    if before is not None:
        os.environ["PYTHONPATH"] = before
    else:
        os.environ.pop("PYTHONPATH", None)
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    if folder is None or sys.version_info < (3, 10):
        return
    package = os.path.dirname(here)
    if "laststep" not in sys.modules:
        # By its place, not by its name: laststep may live in another environment than the program.
        from importlib.machinery import ModuleSpec, SourceFileLoader

        path = os.path.join(package, "__init__.py")
        loader = SourceFileLoader("laststep", path)
        module = type(sys)("laststep")
        module.__spec__ = ModuleSpec("laststep", loader, origin=path, is_package=True)
        module.__spec__.submodule_search_locations.append(package)
        module.__path__, module.__file__, module.__loader__ = [package], path, loader
        module.__package__ = "laststep"
        sys.modules["laststep"] = module
        loader.exec_module(module)
    from laststep.recorder.start import start

    start(folder, restore=(here, before), side_seconds=float(side_seconds) if side_seconds else None)


try:
    _laststep_start(os.path.dirname(os.path.abspath(__file__)))
except Exception:  # fail open: training runs bare, the supervisor notes that nobody reported from inside
    pass

sys.modules.pop("sitecustomize", None)
try:
    import sitecustomize  # noqa: F401 - the one that the user would have had
except ImportError as _error:
    if getattr(_error, "name", None) != "sitecustomize":
        raise
    import types

    # site.py looks for nothing in it, but an import that succeeds must leave a module behind.
    sys.modules["sitecustomize"] = types.ModuleType("sitecustomize")
finally:
    for _name in ("_laststep_start",):
        globals().pop(_name, None)
