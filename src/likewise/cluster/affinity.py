"""A learned kernel as the affinity that scikit-learn's SpectralClustering takes.

    A_ij = max(0, K_ij / sqrt(K_ii K_jj)) + 1e-6

Spectral clustering needs no wrapper here, but its affinities are the weights of a graph: >= 0 and
connected. Given a kernel as it is, scikit-learn ends in "Input contains NaN" when entries are
negative (the root of a negative degree), and warns of a graph that falls apart when the kernel is
as good as it can be, one block a cluster. The cosine takes away the length of the rows, which is
no likeness, and the unit; rows at more than a right angle are no more unlike than rows at one; and
the last term ties everything together by a thread.
"""

import numpy as np

from likewise.kernels import check_similarity

THREAD = 1e-6  # a millionth of a row's likeness to itself


def kernel_affinity(K) -> np.ndarray:
    """Turn a kernel into nonnegative affinities for spectral clustering.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric; negative entries and eigenvalues are welcome.

    Returns
    -------
    ndarray of shape (n, n)
        Symmetric, between 1e-6 and 1 + 1e-6. A row without length (K_ii <= 0) is like no other.

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
