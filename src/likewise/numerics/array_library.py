"""Whose arrays these are: NumPy's, which live here, or another library's, torch's on a GPU, say.

Functions that serve both take arrays of one library and return arrays of it, through the array API
standard (`array_api_compat`). What NumPy alone can do (sparse rows, sorting in part) is asked for
by `is_array_elsewhere`.
"""

from array_api_compat import array_namespace, is_array_api_obj, is_numpy_array, numpy


def is_array_elsewhere(X) -> bool:
    """Whether this is an array of another library than NumPy, a torch tensor for instance."""
    return is_array_api_obj(X) and not is_numpy_array(X)


def library_of(X):
    """The functions that go with these rows; NumPy's for sparse rows and lists."""
    return array_namespace(X) if is_array_elsewhere(X) else numpy
