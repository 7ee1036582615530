"""The options of every jitted function, in one place, and a compile cache that cannot go stale.

numba's on-disk cache looks at the file of the function that is called, not at the files of the jitted
helpers it calls, so an edit of a helper would silently give old results. The cache folder is therefore
named by a hash of all sources that hold jitted code, and of the versions of numba and llvmlite.
"""

import hashlib
import os
import tempfile
from pathlib import Path

import llvmlite
import numba

PACKAGE = Path(__file__).parent

#: The jitted code and its callers, relative to the package: what the compile cache is named by.
KERNEL_SOURCES = ("_jit.py", "records.py", "sampling.py", "sizes.py", "mgn/*.py")

#: What decides the result of a simulation, and how much of it there is: the work that a curve needs is found from
#: estimates. workflow/rules/simulate.smk declares these files as inputs, so that an edit simulates anew.
SIMULATION_SOURCES = (*KERNEL_SOURCES, "runs.py", "streams.py", "tails/*.py")

#: The same for load balancing: what decides a fixed point, and a simulation of finitely many servers.
#: Beside KERNEL_SOURCES, so that an edit in one of the two simulates nothing of the other anew.
DISPATCH_SOURCES = (
    "_jit.py",
    "sampling.py",
    "sizes.py",
    "streams.py",
    *(
        f"dispatch/{name}.py"
        for name in ("cavity", "kernels", "phase_type", "policies", "servers", "simulation")
    ),
)

#: What decides what is made of the shards of a curve.
ESTIMATOR_SOURCES = (
    "curves.py",
    "files.py",
    "records.py",
    "settings.py",
    "sizes.py",
    "tails/*.py",
    "theory/*.py",
)


def source_files(patterns, package=PACKAGE):
    """Return the sources that match, such as `SIMULATION_SOURCES`, as a sorted list of paths."""
    return sorted({path for pattern in patterns for path in package.glob(pattern)})


def source_hash(package=PACKAGE):
    """Return a short hash of all sources with compiled code and of the compiler's versions."""
    digest = hashlib.sha256(f"numba {numba.__version__} llvmlite {llvmlite.__version__}".encode())
    for path in source_files((*KERNEL_SOURCES, *DISPATCH_SOURCES), package):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _usable(folder):
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def cache_folder():
    """Return a writable compile cache, named by `source_hash`, or None if there is nowhere to write."""
    homes = [os.environ.get("NUMBA_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME")]
    bases = [Path(home) for home in homes if home]
    bases += [Path(os.path.expanduser("~")) / ".cache", Path(tempfile.gettempdir()) / f"cache-{os.getuid()}"]
    name = f"tailsched-{source_hash()}"
    return next((base / name for base in bases if _usable(base / name)), None)


_cache = cache_folder()
if _cache is not None:
    numba.config.CACHE_DIR = str(_cache)

OPTIONS = {"error_model": "numpy", "boundscheck": False}


def njit(function=None, **options):
    """`numba.njit` with the project's options and, where a folder can be written, the compile cache."""
    if function is None:
        return lambda f: njit(f, **options)
    cache = _cache is not None and os.path.exists(function.__code__.co_filename)
    return numba.njit(function, cache=cache, **{**OPTIONS, **options})


#: Kernels allocate nothing, so they need no reference counts, which would cost more than their arithmetic.
KERNEL = {**OPTIONS, "_nrt": False}

#: The same for a kernel's building block, which is to become part of its callers.
INLINED = {**KERNEL, "forceinline": True}


def inlined(function):
    """Compile a building block of kernels."""
    return njit(function, **INLINED)
