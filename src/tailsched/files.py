"""Files that are whole or absent, with the same bytes whatever the locale.

Floats are written by `repr` (17 significant digits at most, a decimal point, no grouping), so that a
number read back is the number that was written; counts stay integers; None is an empty cell.
"""

import contextlib
import csv
import io
import json
import os
from numbers import Integral, Real
from pathlib import Path


@contextlib.contextmanager
def replacing(path):
    """Yield a temporary path beside `path`, which takes its place only if the block succeeds.

    A symbolic link keeps pointing where it did; what is there and is no regular file is written to as it is.
    Errors name `path`, not the temporary one.
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file() and not target.is_dir():
        yield target
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        os.replace(temporary, target)
    except OSError as error:
        raise OSError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_text(path, text):
    """Write `text` to `path` at once, as UTF-8 with line feeds."""
    with replacing(path) as temporary:
        temporary.write_bytes(text.encode("utf-8"))


def cell(value):
    """Return the text of one CSV cell: `repr` of a float, the empty text for None."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    raise TypeError(f"a table cell holds text, a number or None, not {value!r}")


def write_csv(path, columns, rows):
    """Write rows to a CSV file.

    Parameters
    ----------
    path : path-like
    columns : sequence of str
        The header.
    rows : iterable of dict or sequence
        Dicts may lack columns (empty cells); a key that is no column is an error.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        if isinstance(row, dict):
            unknown = row.keys() - set(columns)
            if unknown:
                raise ValueError(f"no such columns: {', '.join(sorted(unknown))}")
            row = [row.get(column) for column in columns]
        writer.writerow([cell(value) for value in row])
    write_text(path, text.getvalue())


def write_json(path, value):
    """Write JSON that any parser reads: no NaN, no infinity."""
    write_text(path, json.dumps(value, indent=1, allow_nan=False) + "\n")
