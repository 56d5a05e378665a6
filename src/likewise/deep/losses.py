"""What the network learns: soft assignments, their target, and a loss for each kind of answer.

    student   q_ic  =  (1 + |z_i - mu_c|^2)^-t / sum            t_power t: 1 in the papers
    angular   q_ic  =  exp(SHARPNESS z_i.mu_c) / sum            codes and centers on the unit sphere
    target    p_ic  =  (q_ic^2 / f_c) / sum,  f_c = sum_i q_ic
    KL              mean_i sum_c p_ic log(p_ic / q_ic)

    must-link   -log s(i, j)       student: s = q_i.q_j
    cannot-link -log(1 - s(i, j))  angular: s = (1 + cos a)/2 for must-links, and for cannot-links
                                   (1 + cos(w a))/2 up to a = pi/w, 0 beyond: far enough is enough
                                   likelihood: s = e + (1 - 2e) q_i.q_j, with the angular q:
                                   the chance of such an answer, where a share e of them is wrong
    odd_one_out -log softmax over the three similarities, at the pair named
    closer      the same over two
    undecided   variance of the three similarities

    contrast    -log softmax over all other views of a batch, at the other view of the same row
    pseudo      -log q_strong[c] where the weak view of the row has q_c > threshold
    evenness    max(0, least - H(mean q)), the entropy of the shares of the clusters

Every answer has a weight; losses are weighted means over a batch.
Reference: zhang2021 for the first three lines and the pairs (t_power=2 is what its code computes),
zhang2025 for the angles, hsu2019 for the likelihood, patrini2017 for wrong answers in it, chen2020
for the contrast, sohn2020 for pseudo-labels. We differ in the softmax over similarities, where
zhang2021 has a hinge.
"""

import math

import torch
from torch.nn import functional as F

from likewise.deep.mapping import SHARPNESS

TRIPLE_SHARPNESS = 5.0  # of the choice among three similarities between 0 and 1
SMALLEST = 1e-7  # similarities stay this far from 0 and 1, where the logarithms have no gradient
IN_KL = 1e-6  # added to q under the logarithm, as in the code of zhang2021
NEAR_ONE = 1 - 1e-6  # cosines: the angle of equal codes has no gradient


def student_assignments(codes, centers, t_power: int):
    """Soft assignments (n, k) of codes (n, d) to centers (k, d)."""
    sq_codes, sq_centers = codes.square().sum(dim=1), centers.square().sum(dim=1)
    sq_dists = (sq_codes[:, None] - 2 * codes @ centers.T + sq_centers).clamp(min=0)
    q = (1 + sq_dists) ** -t_power
    return q / q.sum(dim=1, keepdim=True)


def angular_assignments(codes, centers):
    """Soft assignments (n, k) of unit codes by their cosines with the centers."""
    return torch.softmax(SHARPNESS * codes @ F.normalize(centers, dim=1).T, dim=1)


def target_assignments(q):
    """Assignments (n, k), sharpened and balanced over the clusters."""
    p = q.square() / q.sum(dim=0)
    return p / p.sum(dim=1, keepdim=True)


def kl_loss(p, q):
    """KL(p || q), mean over rows."""
    return (p * (torch.log(p + SMALLEST) - torch.log(q + IN_KL))).sum(dim=1).mean()


def overlap(q, other, error_rate: float = 0.0):
    """The probability that two rows share a cluster, or that an answer says so, (m,)."""
    together = error_rate + (1 - 2 * error_rate) * (q * other).sum(dim=1)
    return together.clamp(SMALLEST, 1 - SMALLEST)


def cosines(codes, other):
    """Of unit codes, (m,)."""
    return (codes * other).sum(dim=1).clamp(-NEAR_ONE, NEAR_ONE)


def nearness(cosine, widening: float):
    """(1 + cos(w a)) / 2 of angles a up to pi / w, 0 beyond; w = 1 is the plain one, (m,)."""
    if widening == 1:
        return ((1 + cosine) / 2).clamp(SMALLEST, 1 - SMALLEST)
    angle = torch.acos(cosine)
    near = (1 + torch.cos(widening * angle)) / 2
    return torch.where(angle <= math.pi / widening, near, 0.0).clamp(SMALLEST, 1 - SMALLEST)


def widening_of(n_clusters: int, n_code: int) -> float:
    """How much cannot-link angles are widened, so that all clusters can be equally far apart.

    k directions can have the cosine -1/(k - 1) with each other in k - 1 dimensions; with fewer
    dimensions a right angle is as good as apart.
    """
    if n_clusters - 1 > n_code or n_clusters < 2:
        return 2.0
    return math.pi / math.acos(-1 / (n_clusters - 1))


def must_link_loss(similarity, weights):
    return -(weights * torch.log(similarity)).mean()


def cannot_link_loss(similarity, weights):
    return -(weights * torch.log1p(-similarity)).mean()


def choice_loss(similarities, weights):
    """-log softmax of the first of the similarities (m, 2) or (m, 3): that pair was named."""
    log_choice = torch.log_softmax(TRIPLE_SHARPNESS * similarities, dim=1)
    return -(weights * log_choice[:, 0]).mean()


def undecided_loss(similarities, weights):
    """Variance of the three similarities (m, 3), which people could not tell apart."""
    return (weights * similarities.var(dim=1, correction=0)).mean()


def size_loss(q):
    """How far the clusters of a batch are from equal sizes."""
    return (q.mean(dim=0) - 1 / q.shape[1]).square().sum()


def difficulty_loss(q, ease):
    """Rewards certain assignments of easy rows (ease > 0), and uncertain ones of hard rows (< 0).

    `ease` (n,); a row of ease 0 does not count. All zero has no gradient and is left out.
    """
    return -torch.sqrt((ease[:, None] * q).square().sum() + SMALLEST)


def contrast_loss(first, second, temperature: float):
    """Of two views (n, d) each of the same rows, of length 1: find the other view of every row."""
    views = torch.cat([first, second])
    n = len(first)
    logits = views @ views.T / temperature
    logits = logits.masked_fill(torch.eye(2 * n, dtype=torch.bool, device=views.device), -1e9)
    partner = torch.arange(2 * n, device=views.device).roll(n)
    return F.cross_entropy(logits, partner)


def pseudo_label_loss(q_weak, q_strong, threshold: float):
    """The strong view learns the cluster that the weak view (n, k) is sure of; mean over rows."""
    sure, cluster = q_weak.max(dim=1)
    likelihood = q_strong.gather(1, cluster[:, None])[:, 0].clamp(min=SMALLEST)
    return -((sure > threshold) * torch.log(likelihood)).mean()


def label_loss(q, labels):
    """Rows learn their labels (n,); mean over those that have one, which is 0 or above."""
    likelihood = q.gather(1, labels.clamp(min=0)[:, None])[:, 0].clamp(min=SMALLEST)
    known = labels >= 0
    return -(known * torch.log(likelihood)).sum() / known.sum().clamp(min=1)


def evenness_loss(q, least: float):
    """What the entropy of the clusters' shares in a batch lacks to `least`; 0 if nothing."""
    shares = q.mean(dim=0).clamp(min=SMALLEST)
    return F.relu(least + (shares * torch.log(shares)).sum())
