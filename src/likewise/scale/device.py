"""A fitted learner as a function of tensors: what it takes to map rows on a GPU.

The learner's arrays are moved to the device once, rows block by block. Maps through a kernel of
landmarks run in the float type of the rows. The local systems of `SpectralReweighting` are solved
in float64, since near a landmark they are next to singular.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from array_api_compat import array_namespace, to_device

from likewise.kernel_learning import SKLR, LogDetPairs, SpectralReweighting
from likewise.kernels import NystromMap, SelfTuningGaussian, cosine, linear, polynomial, rbf
from likewise.metric_learning import ITML, LSML, MMC, RCA
from likewise.numerics import array_maps
from likewise.numerics.array_maps import find_device, is_array_elsewhere


def import_torch():
    """torch, or the line that installs it."""
    try:
        import torch
    except ImportError:
        raise ImportError("torch is not installed. Try: pip install 'likewise[deep]'") from None
    return torch


def on_device(rows, device):
    """Rows as a tensor there; whole numbers become float64."""
    torch = import_torch()
    device = find_device(torch, device)
    if is_array_elsewhere(rows):
        return to_device(rows, device)
    if not isinstance(rows, np.ndarray):
        raise TypeError("A device takes dense rows; these are sparse. Leave device out.")
    rows = rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
    return torch.as_tensor(np.ascontiguousarray(rows)).to(device)


def from_device(rows):
    """A tensor as an ndarray here; an ndarray as it is."""
    return np.asarray(to_device(rows, "cpu")) if is_array_elsewhere(rows) else rows


def device_map(learner, device, is_single: bool) -> Callable:
    """The learner's ``transform`` for tensors of this device, of float32 or of float64."""
    torch = import_torch()
    device = find_device(torch, device)
    dtype = torch.float32 if is_single else torch.float64

    def there(array, kind=None):
        return torch.as_tensor(np.asarray(array, dtype=np.float64)).to(device).to(kind or dtype)

    if isinstance(learner, ITML | RCA | MMC | LSML):
        return partial(_times, there(learner.components_.T))
    if isinstance(learner, SKLR | LogDetPairs) and isinstance(learner.start_map_, NystromMap):
        if getattr(learner, "scaler_", None) is not None:
            raise TypeError('SKLR(loss="paper") is not mapped on a device. Leave device out.')
        start = learner.start_map_
        landmarks = there(_dense(start.landmarks, "landmarks"))
        factor = there(start.whitening @ learner.components_)
        return partial(_through_kernel, _kernel(start, landmarks, there), landmarks, factor)
    if isinstance(learner, SpectralReweighting):
        to64 = partial(there, kind=torch.float64)
        landmarks = to64(_dense(learner.map_.landmarks, "landmarks"))
        kernel = _kernel(learner.map_, landmarks, to64)
        arrays = (to64(learner.map_.gram), to64(learner.map_.coordinates))
        k = min(learner.map_.n_neighbors, len(learner.map_.gram))
        return partial(_through_neighbors, kernel, landmarks, *arrays, k, learner.map_.n_iter)
    raise TypeError(
        f"{type(learner).__name__} is not mapped on a device: SKLR and LogDetPairs (but from "
        "diffusion), SpectralReweighting, ITML, RCA, MMC and LSML are. Leave device out."
    )


def _kernel(fitted, landmarks, there) -> Callable:
    """The kernel of a map as a function of tensors."""
    kernel = fitted.kernel
    function, settings = getattr(kernel, "func", kernel), getattr(kernel, "keywords", {})
    if function is rbf:
        return partial(array_maps.gaussian, **settings)
    if isinstance(kernel, SelfTuningGaussian):
        is_same = kernel.rows is fitted.landmarks
        training = landmarks if is_same else there(_dense(kernel.rows, "training rows"))
        return partial(
            array_maps.self_tuning,
            Y_sigmas=there(kernel.scales(fitted.landmarks)),
            training=training,
            n_neighbors=kernel.n_neighbors,
            count_self=kernel.count_self,
            least=float(kernel.sigmas.min()),
        )
    if function in (linear, polynomial, cosine):
        return partial(_POINTWISE[function], **settings)
    raise TypeError(f"The kernel {function!r} is not known to a device. Leave device out.")


def _dense(rows, what: str) -> np.ndarray:
    if not isinstance(rows, np.ndarray):
        raise TypeError(f"A device takes dense rows, and the {what} are sparse. Leave device out.")
    return rows


def _times(factor, X):
    return X @ factor


def _through_kernel(kernel, landmarks, factor, X):
    return kernel(X, landmarks) @ factor


def _through_neighbors(kernel, landmarks, gram, coordinates, k, n_iter, X):
    xp = array_namespace(X)
    rows = xp.astype(X, xp.float64)
    own = _own_values(kernel, rows)
    Z = array_maps.combine_nearest(own, kernel(rows, landmarks), gram, coordinates, k)
    for _ in range(1, n_iter):
        own, cross = xp.sum(Z * Z, axis=1), Z @ coordinates.T
        Z = array_maps.combine_nearest(own, cross, coordinates @ coordinates.T, coordinates, k)
    return xp.astype(Z, X.dtype)


def _own_values(kernel, X):
    """k(x, x) of every row."""
    xp = array_namespace(X)
    function = kernel.func
    if function in (array_maps.gaussian, array_maps.self_tuning):
        return xp.ones(X.shape[0], dtype=X.dtype, device=X.device)
    own = xp.sum(X * X, axis=1)
    if function is _cosine:
        return xp.astype(own > 0, X.dtype)
    return own if function is _linear else _power(own, X.shape[1], **kernel.keywords)


def _linear(X, Y):
    return X @ Y.T


def _polynomial(X, Y, **settings):
    return _power(X @ Y.T, X.shape[1], **settings)


def _power(products, n_features: int, degree: int = 3, gamma=None, coef0: float = 1.0):
    return (products * (1 / n_features if gamma is None else gamma) + coef0) ** degree


def _cosine(X, Y):
    xp = array_namespace(X, Y)

    def unit(A):
        lengths = xp.sqrt(xp.sum(A * A, axis=1))[:, None]
        return A / xp.where(lengths > 0, lengths, xp.ones_like(lengths))

    return unit(X) @ unit(Y).T


_POINTWISE = {linear: _linear, polynomial: _polynomial, cosine: _cosine}
