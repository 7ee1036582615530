"""Job traces as CSV files: ``arrival,size`` in, ``arrival,size,completion`` out."""

import csv

import numpy as np

from tailsched.files import write_csv
from tailsched.sizes import LARGEST, SMALLEST

HEADER = ["arrival", "size"]


def read_jobs(path):
    """Read a trace; return (arrivals, sizes), in the order of the file.

    Raises
    ------
    ValueError
        With the number of the line, if the header is not ``arrival,size``, a row has another number of
        fields, a field is not a finite number, a size is not positive, or there are no jobs.
    """
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            jobs = []
            for row in reader:
                row = [field.strip() for field in row]
                if reader.line_num == 1:
                    if row != HEADER:
                        raise ValueError(
                            f"{path}, line 1: must be the header arrival,size, not {','.join(row)!r}"
                        )
                elif row:
                    jobs.append(_job(path, reader.line_num, row))
    except OSError as error:
        raise ValueError(f"jobs = {str(path)!r}: cannot be read ({error.strerror})") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"jobs = {str(path)!r}: is not a CSV file ({error})") from None
    if not jobs:
        raise ValueError(f"{path}: must hold at least one job below the header arrival,size")
    arrivals, sizes = np.array(jobs).T
    return arrivals, sizes


def _job(path, line, row):
    if len(row) != len(HEADER):
        raise ValueError(f"{path}, line {line}: must have 2 fields, arrival and size, not {len(row)}")
    numbers = []
    for name, text in zip(HEADER, row, strict=True):
        try:
            numbers.append(float(text))
        except ValueError:
            raise ValueError(f"{path}, line {line}: {name} = {text!r}: must be a number") from None
    if not abs(numbers[0]) <= LARGEST:
        raise ValueError(f"{path}, line {line}: arrival = {row[0]}: must be finite, of at most {LARGEST:g}")
    if not SMALLEST <= numbers[1] <= LARGEST:
        raise ValueError(
            f"{path}, line {line}: size = {row[1]}: must be positive, from {SMALLEST:g} to {LARGEST:g}"
        )
    return numbers


def write_completions(path, arrivals, sizes, completions):
    """Write a trace with its completion times, in full precision."""
    columns = (column.tolist() for column in (arrivals, sizes, completions))
    write_csv(path, [*HEADER, "completion"], zip(*columns, strict=True))
