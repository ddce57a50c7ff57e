"""Scripts of the repository as modules, for tests of their parts."""

import importlib.util


def load(path):
    """Load the script at the path, without running its ``main``."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
