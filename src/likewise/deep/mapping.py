"""A trained network without torch: codes and soft assignments of new rows.

    code(x) = W_k relu( ... relu(W_1 (x - center) / scale + b_1) ... ) + b_k

On a sphere codes are then divided by their length.

The same arithmetic as `networks` and `losses`, in the float type of the rows and in their library,
so that a saved model can be used where torch is not installed.
"""

from dataclasses import dataclass

import numpy as np

from likewise.kernels import map_blocks, sq_distances
from likewise.maps import Map
from likewise.numerics.array_library import library_of

SHARPNESS = 10.0  # of the softmax over cosines: opposite directions are e^20 apart


@dataclass(frozen=True, eq=False)
class NetworkMap(Map):
    """Rows to the codes of a trained network; its layers are pairs of weights and biases.

    Examples
    --------
    >>> from likewise.deep.mapping import NetworkMap
    >>> layers = ((np.array([[1.0, -1.0]]), np.zeros(2)), (np.array([[1.0], [1.0]]), np.zeros(1)))
    >>> sizes = NetworkMap(layers, center=np.zeros(1), scale=1.0, on_sphere=False)
    >>> sizes.transform([[3.0], [-2.0]])
    array([[3.],
           [2.]])
    """

    layers: tuple  # of (n_inputs, n_outputs) weights and (n_outputs,) biases
    center: np.ndarray  # (n_features,), taken off the rows
    scale: float  # by which they are then divided
    on_sphere: bool  # codes have length 1

    @property
    def n_directions(self) -> int:
        return self.layers[-1][1].shape[0]

    def _coordinates_of(self, X, dtype):
        widest = max(bias.shape[0] for _, bias in self.layers)
        codes = map_blocks(self._block, X, widest, self.n_directions)
        codes = library_of(X).astype(codes, X.dtype, copy=False)
        return to_sphere(codes) if self.on_sphere else codes

    def _block(self, X):
        xp = library_of(X)

        def own(array):
            return xp.astype(array, X.dtype, copy=False)

        rows = (X - own(self.center)) / self.scale
        for i, (weights, bias) in enumerate(self.layers):
            if i:
                rows = xp.where(rows > 0, rows, xp.zeros_like(rows))
            rows = rows @ own(weights) + own(bias)
        return rows


def network_map(trained, loss: str) -> NetworkMap:
    """The encoder of a trained network: its ``encoder``, ``offset`` and ``scale``, as a map."""
    layers = tuple(tuple(layer) for layer in trained.encoder)
    return NetworkMap(layers, trained.offset, float(trained.scale), on_sphere=loss == "angular")


def to_sphere(rows):
    """Rows of length 1; one of length 0 stays."""
    xp = library_of(rows)
    lengths = xp.linalg.vector_norm(rows, axis=1)[:, None]
    return rows / xp.where(lengths > 0, lengths, xp.ones_like(lengths))


def assign(codes: np.ndarray, centers: np.ndarray, *, t_power: int | None) -> np.ndarray:
    """Soft assignments (n, k): Student's t of a power, or, for None, by cosines."""
    if t_power is None:
        logits = SHARPNESS * codes @ to_sphere(centers).T
        q = np.exp(logits - logits.max(axis=1, keepdims=True))
    else:
        q = (1 + sq_distances(codes, centers)) ** -t_power
    return q / q.sum(axis=1, keepdims=True)
