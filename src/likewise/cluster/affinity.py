"""A learned kernel as the affinity that scikit-learn's SpectralClustering takes.

    A_ij = max(0, K_ij / sqrt(K_ii K_jj)) + 1e-6

Spectral clustering needs no wrapper here, but its affinities are the weights of a graph: >= 0 and
connected. Given a plain kernel, scikit-learn fails with "Input contains NaN" if entries are
negative (the root of a negative degree), and warns about a disconnected graph if the kernel is as
good as it can be, one block per cluster. The cosine removes the length of the rows, which is not
similarity, and the unit; rows at more than a right angle count like rows at a right angle; and the
last term keeps the graph connected.
"""

import numpy as np

from likewise.kernels import check_similarity

THREAD = 1e-6  # a millionth of a row's similarity to itself


def kernel_affinity(K) -> np.ndarray:
    """Turn a kernel into nonnegative affinities for spectral clustering.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric; entries and eigenvalues may be negative.

    Returns
    -------
    ndarray of shape (n, n)
        Symmetric, between 1e-6 and 1 + 1e-6. A row without length (K_ii <= 0) is similar to none.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import SpectralClustering
    >>> from likewise.cluster import kernel_affinity
    >>> Z = np.array([[2.0, 0.1], [1.0, -0.1], [-1.0, 0.1], [-3.0, 0.2]])  # a learned space
    >>> spectral = SpectralClustering(2, affinity="precomputed", random_state=0)
    >>> labels = spectral.fit_predict(kernel_affinity(Z @ Z.T))
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """
    K = check_similarity(K)
    sq_lengths = np.diag(K)
    has_length = sq_lengths > 0
    scale = np.zeros(len(K))
    scale[has_length] = 1 / np.sqrt(sq_lengths[has_length])
    cosines = K * scale * scale[:, None]
    np.fill_diagonal(cosines, 1.0)
    return np.clip((cosines + cosines.T) / 2, 0.0, 1.0) + THREAD
