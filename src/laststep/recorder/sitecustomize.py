"""Start the recorder in the launched program, then hand over to the user's own sitecustomize."""

# Any Python that the user starts reads this file, old versions too: simple syntax only.
import os
import sys


def _laststep_start(here):
    folder = os.environ.pop("LASTSTEP_RECORD", None)
    options = os.environ.pop("LASTSTEP_ASKED", "")
    # The program and its children see the environment and sys.path that they would have had without us.
    before = os.environ.pop("LASTSTEP_PYTHONPATH", None)
    if before is not None:
        os.environ["PYTHONPATH"] = before
    else:
        os.environ.pop("PYTHONPATH", None)
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    is_too_old = sys.version_info < (3, 10)
    if folder is not None and is_too_old:
        because = "Python " + sys.version.split()[0] + " is older than 3.10, the oldest that laststep records"
        _laststep_refuse(folder, because, "Run it with Python 3.10 or newer")
    if folder is None or is_too_old:
        return
    loaded, entries = set(sys.modules), list(sys.path)
    home = os.path.dirname(os.__file__)
    # While we load, a file of the program must not be imported in place of a standard module.
    sys.path[:] = [entry for entry in entries if entry == home or os.path.basename(entry) == "lib-dynload"] or entries
    try:
        _laststep_load(folder, here, before, options)
    except Exception as error:
        reason = type(error).__name__ + ": " + str(error).split("\n")[0]
        _laststep_refuse(folder, "laststep could not be loaded into the program's Python (" + reason + ")")
        raise
    finally:
        sys.path[:] = entries
    from laststep.recorder.shadows import forget_shadowed_modules

    forget_shadowed_modules(loaded, entries)


def _laststep_refuse(folder, because, does=""):
    """Tell the supervisor why this Python is not recorded, and what to do."""
    with open(os.path.join(folder, "refused"), "w") as file:
        file.write(because + "\n" + does)


def _laststep_load(folder, here, before, options):
    package = os.path.dirname(here)
    if "laststep" not in sys.modules:
        # By path, not by name: laststep may be installed in another environment than the program's.
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

    start(folder, restore=(here, before), options=options)
    from laststep.recorder import shadows  # noqa: F401 - loaded while it can be found


try:
    _laststep_start(os.path.dirname(os.path.abspath(__file__)))
except Exception:  # fail open: training runs without us, and the supervisor notes that nothing was recorded from inside
    pass

sys.modules.pop("sitecustomize", None)
try:
    import sitecustomize  # noqa: F401 - the user's own
except ImportError as _error:
    if getattr(_error, "name", None) != "sitecustomize":
        raise
    # site.py uses nothing of it, but a successful import must leave a module behind.
    sys.modules["sitecustomize"] = type(sys)("sitecustomize")
finally:
    for _name in ("_laststep_start", "_laststep_refuse", "_laststep_load"):
        globals().pop(_name, None)
